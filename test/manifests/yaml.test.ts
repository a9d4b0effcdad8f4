import { readYaml } from '@toolyard/manifests'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
    t.strictSame(await readYaml('a: 1\n'.repeat(20_000), { ms: 1 }), { ok: false, fault: { message: 'takes too long to read' } })
    t.match(await readYaml('a: 1'), { ok: true, value: { a: 1 } })
  }
})

t.test('an owner has two texts read at once, however many it has, and one that is given up leaves its line', async t => {
  const threads = (): number => Number(/Threads:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
  const before = threads()
  const given = new AbortController()
  const read = async (signal: AbortSignal): Promise<unknown> => await readYaml('a: 1\n'.repeat(20_000), { owner: 'loud', signal })
  const all = Array.from({ length: 8 }, async () => await read(new AbortController().signal))
  const left = read(given.signal)
  t.match(await readYaml('a: 1', { owner: 'quiet' }), { ok: true })
  t.ok(threads() <= before + 3, `${before} threads, then ${threads()}`)
  given.abort(new Error('given up'))
  await t.rejects(left, { message: 'given up' })
  await Promise.all(all)
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

t.test('a number that JSON has not is refused with its place', async t => {
  for (const [number, message] of [
    ['.inf', 'Infinity is no number of JSON'], ['-.Inf', '-Infinity is no number of JSON'], ['.nan', 'NaN is no number of JSON'],
    ['1e999', 'Infinity is no number of JSON'], ['9'.repeat(400), 'holds a number that is too large']
  ] as const) t.strictSame(await readYaml(`.inf: 1\nb:\n  - c: &d ${number}\n  - *d\n`), { ok: false, fault: { message, line: 3, column: 11 } }, number)
})

t.test('as many levels as a manifest may have are read, in blocks and in brackets, and one more is refused with its place', async t => {
  const blocks = (levels: number): string => Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('')
  for (const textOf of [blocks, (levels: number) => '- '.repeat(levels) + '1', (levels: number) => '['.repeat(levels) + ']'.repeat(levels)]) {
    t.match(await readYaml(textOf(100)), { ok: true })
    t.match(await readYaml(textOf(102)), { ok: false, fault: { message: 'nested deeper than 100 levels' } })
  }
  t.strictSame(await readYaml(`a: 1\nb: ${'['.repeat(200)}`), { ok: false, fault: { message: 'nested deeper than 100 levels', line: 2, column: 113 } })
})
