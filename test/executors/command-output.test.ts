import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { collectGarbage } from '../support/garbage.ts'
import { createCommandFixture } from './command-fixture.ts'
import { outputOf } from './fixture.ts'

t.test('A38 X9 JSON on stdout is parsed, also when its value is falsy', async t => {
  const fixture = await createCommandFixture(t)
  for (const value of [{ a: [1, { b: null }] }, [], 0, false, '', null, 'text', 1.5]) {
    const program = fixture.program('print', `#!/bin/sh\ncat <<'END'\n${JSON.stringify(value)}\nEND\n`)
    t.same(await fixture.run({ program }), { ok: true, output: value })
  }
})

t.test('X9, X29 JSON with a number that JavaScript can\'t represent stays text', async t => {
  const fixture = await createCommandFixture(t)
  const huge = '1'.repeat(400)
  for (const text of ['{"a":1e999}', '[-1e999]', `[${huge}]`, '1E+400']) t.equal(outputOf(await fixture.runShell(`printf %s '${text}'`)), text)
  t.same(outputOf(await fixture.runShell('printf %s \'["1e999", 1e-999, 1e308]\'')), ['1e999', 0, 1e308])
})

t.test('X9 AC18 what is no JSON is text without the white space around it', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell('printf "\\n  two words\\n\\n"')), 'two words')
  t.equal(outputOf(await fixture.runShell('echo "{broken"')), '{broken')
})

t.test('a text whose last line is JSON is told in the log', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell('echo reading; echo \'{"n":1}\'')), 'reading\n{"n":1}')
  t.match(fixture.logged, [/stdout isn't JSON as a whole.*its last line is JSON/])
  await fixture.runShell('echo reading; echo "{n}"')
  await fixture.runShell('echo \'{"n":1}\'')
  t.equal(fixture.logged.length, 1)
})

t.test('X9 AC18 blank stdout is an empty object', async t => {
  const fixture = await createCommandFixture(t)
  t.same(outputOf(await fixture.runShell('printf " \\n\\t"')), {})
  t.same(outputOf(await fixture.runShell(':')), {})
})

t.test('B3 white space inside of strings and of text stays', async t => {
  const fixture = await createCommandFixture(t)
  t.same(outputOf(await fixture.runShell('printf "%s" \'{"text":"a  b\\n\\n c"}\'')), { text: 'a  b\n\n c' })
  t.equal(outputOf(await fixture.runShell('echo "a  b"; echo " c"')), 'a  b\n c')
})

t.test('B1 all of stdout is read, however fast the tool ends', async t => {
  const fixture = await createCommandFixture(t)
  const outputs = await Promise.all(Array.from({ length: 60 }, () => fixture.run({ program: '/bin/pwd' })))
  t.ok(outputs.every(outcome => typeof outputOf(outcome) === 'string'))
  const text = outputOf(await fixture.runShell('head -c 700000 /dev/zero | tr "\\0" x'))
  t.equal(String(text).length, 700_000)
})

t.test('B1 output that is still in the pipe when a busy worker hears of the exit is read', async t => {
  const fixture = await createCommandFixture(t)
  const run = fixture.runShell('(sleep 30) & printf "%s" kept')
  // Longer than the executor waits for silence after an exit.
  await new Promise(resolve => setImmediate(resolve))
  const end = performance.now() + 1_500
  while (performance.now() < end);
  t.equal(outputOf(await run), 'kept')
})

t.test('X10 output at the cap is whole; with one byte more it is cut and counted', async t => {
  const fixture = await createCommandFixture(t, { maxOutputBytes: 2_048 })
  const print = (bytes: number): string => `head -c ${bytes} /dev/zero | tr "\\0" x`
  t.same(await fixture.runShell(print(2_048)), { ok: true, output: 'x'.repeat(2_048) })
  t.same(await fixture.runShell(print(2_049)), { ok: true, output: 'x'.repeat(2_048), cut: { bytes: 2_049, storedBytes: 2_048 } })
})

t.test('a cut never falls inside of a UTF-8 sequence', async t => {
  const fixture = await createCommandFixture(t, { maxOutputBytes: 1_025 })
  for (const [char, bytes] of [['é', 2], ['€', 3], ['\u{1F600}', 4]] as const) {
    const count = Math.floor(1_025 / bytes)
    t.same(await fixture.runShell(`yes '${char}' | head -n 2000 | tr -d "\\n"`), { ok: true, output: char.repeat(count), cut: { bytes: 2_000 * bytes, storedBytes: count * bytes } })
  }
})

t.test('fault 3 endless output is capped and drained until the timeout, with flat memory', async t => {
  const fixture = await createCommandFixture(t)
  collectGarbage()
  const before = process.memoryUsage()
  const outcome = await fixture.runShell('yes', { timeoutMs: 1_500 })
  t.match(outcome, { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  // The collector gives buffers back in a thread of its own, a little later.
  const left = await waitFor('what was read is gone', () => {
    collectGarbage()
    const bytes = process.memoryUsage().arrayBuffers - before.arrayBuffers
    return bytes < 20e6 && { bytes }
  })
  t.ok(left.bytes < 20e6, 'what was read is gone')
  const [line] = await fixture.auditLines()
  t.ok(Number(line?.['stdoutBytes']) > 3_000_000, `${String(line?.['stdoutBytes'])} bytes were drained`)
})

t.test('fault 3 a tool that prints 50 MB succeeds with what was kept', async t => {
  const fixture = await createCommandFixture(t)
  const outcome = await fixture.runShell('head -c 50000000 /dev/zero | tr "\\0" x')
  t.match(outcome, { ok: true, cut: { bytes: 50_000_000, storedBytes: 1_048_576 } })
})

t.test('fault 7 a text with bytes that are no UTF-8 is a text, and the log says so', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell('printf "caf\\351"')), 'caf\ufffd')
  t.same(outputOf(await fixture.runShell('printf \'["na\\357ve text"]\'')), ['na\ufffdve text'])
  t.ok(fixture.logged.some(line => line === "the output isn't UTF-8 in 1 place, which has U+FFFD instead"))
})

t.test('fault 7 output that is no text is refused without a session, with what it looks like', async t => {
  const fixture = await createCommandFixture(t)
  const told = async (script: string): Promise<unknown> => (await fixture.runShell(script) as { error?: unknown }).error
  t.match(await told('printf "\\377\\376\\375a"'), { code: 'OUTPUT_INVALID', message: /no text but binary data; in a session .* stdout.bin/ })
  t.match(await told('printf "text\\0\\377"'), { code: 'OUTPUT_INVALID', message: /no text but binary data/ })
  t.match(await told('printf "\\211PNG\\r\\n\\032\\n"'), { code: 'OUTPUT_INVALID', message: /no text but image\/png/ })
})

t.test('fault 7 JSON nested deeper than an output may be stays text', async t => {
  const fixture = await createCommandFixture(t)
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  const print = async (text: string): Promise<unknown> => outputOf(await fixture.run({ program: '/bin/echo', args: [text] }))
  t.type(await print(nested(500)), Array)
  t.equal(await print(nested(501)), nested(501))
  t.equal(await print(nested(50_000)), nested(50_000))
  t.same(await print(`["${'['.repeat(600)}\\""]`), [`${'['.repeat(600)}"`])
})

t.test('fault 11 runs leave no memory behind that would slow down the next spawn', async t => {
  const fixture = await createCommandFixture(t)
  const run = (): Promise<unknown> => fixture.runShell('head -c 5000000 /dev/zero | tr "\\0" x')
  await run()
  collectGarbage()
  const before = process.memoryUsage()
  for (let i = 0; i < 30; i++) await run()
  // A closed connection takes a turn or two of the event loop to be gone.
  const left = await waitFor('memory is as before', () => {
    collectGarbage()
    const after = process.memoryUsage()
    const bytes = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed
    return bytes < 10e6 && { bytes }
  })
  t.ok(left.bytes < 10e6, 'less than two of the thirty outputs')
})
