import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { TestFile } from './files.ts'
import { runFiles, type RunOptions } from './run.ts'
import { places } from './suites.ts'

const fine = "console.log('TAP version 14\\nok 1 - fine\\n1..1')"
/** Fails as long as it has not run before. */
const flaky = `
  const { existsSync, writeFileSync } = require('node:fs')
  const ok = existsSync(__filename + '.ran')
  writeFileSync(__filename + '.ran', '')
  console.log('TAP version 14\\n' + (ok ? 'ok' : 'not ok') + ' 1 - second time lucky\\n1..1')
  process.exitCode = ok ? 0 : 1`
const broken = 'process.exit(3)'
/** Passes, but adds one listener too many. */
const leaking = "const { EventEmitter } = require('node:events'); const one = new EventEmitter(); " +
  `for (let count = 0; count < 11; count++) one.on('x', () => {}); ${fine}`

/** As on a machine whose processors are never idle. */
const busy: RunOptions = { again: false, say: () => {}, most: 5, startMeter: () => () => 0 }

t.test('a file that fails is not run again by default', async t => {
  const dir = t.testdir({ 'fine.cjs': fine, 'flaky.cjs': flaky, 'broken.cjs': broken })
  const files = ['flaky.cjs', 'broken.cjs', 'fine.cjs'].map(name => testFile(join(dir, name)))
  const said: string[] = []
  t.same(await runFiles(files, { ...busy, say: line => { said.push(line) } }), {
    passed: 1, failed: 2, skipped: 0, failedFiles: files.slice(0, 2).map(({ title }) => title), flakyFiles: []
  })
  t.equal(said.filter(line => line.startsWith('FAILED ')).length, 2)
})

t.test('a file that passes in its second run is counted as flaky', async t => {
  const dir = t.testdir({ 'flaky.cjs': flaky, 'broken.cjs': broken })
  const said: string[] = []
  const [unsteady, failing] = [testFile(join(dir, 'flaky.cjs')), testFile(join(dir, 'broken.cjs'))]
  const counts = await runFiles([unsteady, failing], { ...busy, again: true, say: line => { said.push(line) } })
  t.same(counts, { passed: 1, failed: 1, skipped: 0, failedFiles: [failing.title], flakyFiles: [unsteady.title] })
  t.match(said.join('\n'), /not ok 1 - second time lucky/, 'what it printed first is shown')
})

t.test('a file whose assertions pass fails when Node.js warns of it', async t => {
  const dir = t.testdir({ 'leaking.cjs': leaking })
  const { passed, failed } = await runFiles([testFile(join(dir, 'leaking.cjs'))], busy)
  t.same({ passed, failed }, { passed: 1, failed: 1 })
})

t.test('a file that takes all places runs alone, and files that take few run together', async t => {
  const { named, ran } = await logging(t)
  const files = [named('a', places), named('b', places / 2, ['b', 'c']), named('c', places / 2, ['b', 'c']), named('d', places)]
  await runFiles(files, { ...busy, startMeter: () => () => 1 })
  t.match(await ran(), /^a\+ a- (?:b\+ c\+|c\+ b\+) (?:b- c-|c- b-) d\+ d- $/)
})

t.test('more files than there are places run while the processors are idle, and no more than are allowed', async t => {
  const { named, ran } = await logging(t)
  const first = ['a', 'b', 'c', 'd']
  const idle = [0, 1]
  const files = [...first.map(name => named(name, 1, first)), named('e', 1, ['e'])]
  await runFiles(files, { ...busy, most: first.length, startMeter: () => () => idle.shift() ?? 1 })
  t.match(await ran(), /^(?:[a-d]\+ ){4}.*e\+/)
  t.same(idle, [], 'it was busy when it was first looked at')
})

t.test('files wait for places while the processors are busy', async t => {
  const { named, ran } = await logging(t)
  const first = Array.from({ length: places }, (_, at) => String.fromCodePoint(97 + at))
  await runFiles([...first.map(name => named(name, 1, first)), named('z', 1, ['z'])], busy)
  t.match(await ran(), /-.*z\+/)
})

interface Logging { named: (name: string, taken: number, awaited?: string[]) => TestFile, ran: () => Promise<string> }

/** Files that note their beginning and their end; each ends when all that it waits for have begun. */
async function logging (t: Test): Promise<Logging> {
  const dir = t.testdir({ log: '' })
  const log = join(dir, 'log')
  const script = join(dir, 'logging.cjs')
  await writeFile(script, `
    const { appendFileSync, readFileSync } = require('node:fs')
    const { NAME: name, AWAITED: awaited } = process.env
    appendFileSync(${JSON.stringify(log)}, name + '+ ')
    const timer = setInterval(() => {
      const begun = readFileSync(${JSON.stringify(log)}, 'utf8')
      if (!awaited.split(',').every(one => begun.includes(one + '+'))) return
      clearInterval(timer)
      appendFileSync(${JSON.stringify(log)}, name + '- ')
      ${fine}
    }, 10)`)
  return {
    named: (name, taken, awaited = [name]) => ({ ...testFile(script), title: name, places: taken, env: { NAME: name, AWAITED: awaited.join(',') } }),
    ran: async () => await readFile(log, 'utf8')
  }
}

function testFile (path: string): TestFile {
  return { path, title: path, places: 1, timeoutSec: 30 }
}
