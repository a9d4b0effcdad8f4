import { readYaml } from '@toolyard/manifests'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { stringify } from 'yaml'

t.test('texts that are read at once, and one after the other, are each read as what they say', async t => {
  const rounds = fc.array(fc.array(fc.array(fc.oneof(fc.integer(), fc.string())), { minLength: 1, maxLength: 3 }), { maxLength: 5 })
  await t.resolves(fc.assert(fc.asyncProperty(rounds, async rounds => {
    for (const values of rounds) {
      const readings = await Promise.all(values.map(value => readYaml(stringify(value))))
      t.strictSame(readings.map(reading => reading.ok && reading.value), values)
    }
  }), { numRuns: 5 }))
})

t.test('a text that takes too long is refused, and the texts after it are read', async t => {
  for (let round = 0; round < 2; round++) {
    t.strictSame(await readYaml('a: 1\n'.repeat(20_000), 1), { ok: false, fault: { message: 'takes too long to read' } })
    t.match(await readYaml('a: 1'), { ok: true, value: { a: 1 } })
  }
})

t.test('a process that has read a text ends, though the thread waits for another', async t => {
  const script = "import { readYaml } from '@toolyard/manifests'; console.log(JSON.stringify(await readYaml('a: 1')))"
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { timeout: 20_000 })
  t.match(JSON.parse(stdout), { ok: true, value: { a: 1 } })
})

t.test('texts that are nested without bound are refused, and the process that reads them goes on', async t => {
  const script = `
    import { readYaml } from '@toolyard/manifests'
    for (const level of ['- ', '[', '? ', '{a: ', '- [', '- ? ', ': ']) {
      for (const times of [4_000, 4_350, 4_700, 20_000]) if ((await readYaml(level.repeat(times))).ok) throw new Error(level)
    }
    console.log('done')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { timeout: 60_000 })
  t.equal(stdout, 'done\n')
})

t.test('as many levels as a manifest may have are read, in blocks and in brackets, and one more is refused with its place', async t => {
  const blocks = (levels: number): string => Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('')
  for (const textOf of [blocks, (levels: number) => '- '.repeat(levels) + '1', (levels: number) => '['.repeat(levels) + ']'.repeat(levels)]) {
    t.match(await readYaml(textOf(100)), { ok: true })
    t.match(await readYaml(textOf(102)), { ok: false, fault: { message: 'nested deeper than 100 levels' } })
  }
  t.strictSame(await readYaml(`a: 1\nb: ${'['.repeat(200)}`), { ok: false, fault: { message: 'nested deeper than 100 levels', line: 2, column: 113 } })
})
