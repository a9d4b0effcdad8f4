import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { TestFile } from './files.ts'
import { runFiles } from './run.ts'
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

t.test('a file that fails is not run again by default', async t => {
  const dir = t.testdir({ 'fine.cjs': fine, 'flaky.cjs': flaky, 'broken.cjs': broken })
  const files = ['flaky.cjs', 'broken.cjs', 'fine.cjs'].map(name => testFile(join(dir, name)))
  const said: string[] = []
  t.same(await runFiles(files, { again: false, say: line => { said.push(line) } }), {
    passed: 1, failed: 2, skipped: 0, failedFiles: files.slice(0, 2).map(({ title }) => title), flakyFiles: []
  })
  t.equal(said.filter(line => line.startsWith('FAILED ')).length, 2)
})

t.test('a file that passes in its second run is counted as flaky', async t => {
  const dir = t.testdir({ 'flaky.cjs': flaky, 'broken.cjs': broken })
  const said: string[] = []
  const [unsteady, failing] = [testFile(join(dir, 'flaky.cjs')), testFile(join(dir, 'broken.cjs'))]
  const counts = await runFiles([unsteady, failing], { again: true, say: line => { said.push(line) } })
  t.same(counts, { passed: 1, failed: 1, skipped: 0, failedFiles: [failing.title], flakyFiles: [unsteady.title] })
  t.match(said.join('\n'), /not ok 1 - second time lucky/, 'what it printed first is shown')
})

t.test('a file whose assertions pass fails when Node.js warns of it', async t => {
  const dir = t.testdir({ 'leaking.cjs': leaking })
  const { passed, failed } = await runFiles([testFile(join(dir, 'leaking.cjs'))], { again: false, say: () => {} })
  t.same({ passed, failed }, { passed: 1, failed: 1 })
})

t.test('a file that takes all places runs alone, and files that take few run together', async t => {
  const dir = t.testdir({})
  const log = join(dir, 'log')
  // Each of the two that run together waits for the other.
  const logging = `
    const { appendFileSync, readFileSync } = require('node:fs')
    const { NAME: name, PARTNER: partner } = process.env
    appendFileSync(${JSON.stringify(log)}, name + '+ ')
    const timer = setInterval(() => {
      if (!readFileSync(${JSON.stringify(log)}, 'utf8').includes(partner + '+')) return
      clearInterval(timer)
      appendFileSync(${JSON.stringify(log)}, name + '- ')
      ${fine}
    }, 10)`
  const script = join(dir, 'logging.cjs')
  await writeFile(script, logging)
  const named = (name: string, taken: number, partner = name): TestFile => {
    return { ...testFile(script), title: name, places: taken, env: { NAME: name, PARTNER: partner } }
  }
  await runFiles([named('a', places), named('b', places / 2, 'c'), named('c', places / 2, 'b'), named('d', places)], { again: false, say: () => {} })
  t.match(await readFile(log, 'utf8'), /^a\+ a- (?:b\+ c\+|c\+ b\+) (?:b- c-|c- b-) d\+ d- $/)
})

function testFile (path: string): TestFile {
  return { path, title: path, places: 2, timeoutSec: 30 }
}
