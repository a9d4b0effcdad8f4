import t from 'tap'
import { createCommandFixture } from './command-fixture.ts'

const failed = (message: string, details?: unknown): object => ({ ok: false, error: { code: 'TOOL_FAILED', message, ...(details === undefined ? {} : { details }) } })

t.test('A39 X6 the string "error" of a JSON object on stderr is the message', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('echo \'{"error":"no such city"}\' >&2; exit 1'), failed('no such city'))
})

t.test('X6 the other fields of that object are the details', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('echo \'{"error":"no such city","city":"X","__proto__":{"a":1}}\' >&2; exit 1'), failed('no such city', JSON.parse('{"city":"X","__proto__":{"a":1}}')))
})

t.test('X6 B4 any other stderr is the message as it is, trimmed', async t => {
  const fixture = await createCommandFixture(t)
  const texts = ['plain  text', '{"error":5}', '{"error":""}', '{"message":"x"}', '["error"]', '{"error":"a"} {"error":"b"}', 'null', '{broken', `{"error":"deep","x":${'['.repeat(600)}${']'.repeat(600)}}`]
  for (const text of texts) {
    t.same(await fixture.run({ program: fixture.shell('fail', 'printf "\\n %s \\n" "$1" >&2; exit 1'), args: [text] }), failed(text))
  }
})

t.test('AC17 without stderr the message tells the exit status', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('exit 3'), failed('exit status 3'))
  t.same(await fixture.runShell('echo " " >&2; exit 255'), failed('exit status 255'))
})

t.test('AC17 where stderr is blank, stdout is the message', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('echo nothing to commit; exit 1'), failed('nothing to commit'))
  t.same(await fixture.runShell('echo " " >&2; echo \'{"clean":true}\'; kill -9 $$'), failed('{"clean":true}'))
  t.same(await fixture.runShell('echo " "; exit 4'), failed('exit status 4'))
})

t.test('AC17 beside a message of stderr, the last 2,000 characters of stdout are in the details', async t => {
  const fixture = await createCommandFixture(t, { maxOutputBytes: 5_000 })
  t.same(await fixture.runShell('echo printed; echo said >&2; exit 1'), failed('said', { stdout: 'printed' }))
  t.same(await fixture.runShell('echo both; echo both >&2; exit 1'), failed('both', { stdout: 'both' }))
  t.same(await fixture.runShell('echo printed; echo \'{"error":"said","city":"X"}\' >&2; exit 1'), failed('said', { stdout: 'printed', city: 'X' }))
  t.same(await fixture.runShell('echo printed; echo \'{"error":"said","stdout":"own"}\' >&2; exit 1'), failed('said', { stdout: 'own' }))
  const long = 'printf a; yes \u{1F600} | head -n 1999 | tr -d "\\n"; echo b'
  const end = `${'\u{1F600}'.repeat(999)}b`
  t.same(await fixture.runShell(`${long}; echo said >&2; exit 1`), failed('said', { stdout: end }), 'cut where no letter is, more than is kept of an output')
  t.same(await fixture.runShell(`${long}; exit 1`), failed(`a${'\u{1F600}'.repeat(1_249)}`, { stdout: end }), 'the message shows the begin')
})

t.test('fault 8 exit code, signal and a program that never ran give different errors', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('exit 9'), failed('exit status 9'))
  t.same(await fixture.runShell('kill -9 $$'), failed('signal: SIGKILL'))
  t.same(await fixture.runShell('kill -SEGV $$'), failed('signal: SIGSEGV'))
  t.same(await fixture.runShell('kill -ABRT $$'), failed('signal: SIGABRT'))
  t.match(await fixture.run({ program: '/no/such/program', startable: false }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('AC17 of a stderr of more than 2,000 characters the message has the end, and says where the rest is', async t => {
  const fixture = await createCommandFixture(t)
  const end = (text: string): object => failed(`[the end of stderr; what came before is in the log: GET /v1/jobs/job-1/logs]\n${text}`)
  t.same(await fixture.runShell('printf "%02000d" 7 >&2; exit 1'), failed(`${'0'.repeat(1_999)}7`), 'at the bound')
  t.same(await fixture.runShell('echo first >&2; printf "%02000d\\n" 7 >&2; exit 1'), end(`${'0'.repeat(1_999)}7`))
  t.ok(fixture.logged.includes('first'))
  t.same(await fixture.runShell('printf "%0100000d" 1 >&2; printf "%01999d\\n" 2 >&2; exit 1'), end(`1${'0'.repeat(1_998)}2`), 'more than is kept of stderr')
})

t.test('B4 a message is bounded and never cut inside a surrogate pair', async t => {
  const fixture = await createCommandFixture(t)
  const texts = (await Promise.all(['yes é | head -n 20000 | tr -d "\\n" >&2; exit 1', '{ yes \u{1F600} | head -n 9000 | tr -d "\\n"; printf a; } >&2; exit 1'].map(async script => {
    const outcome = await fixture.runShell(script)
    return outcome.ok ? '' : outcome.error.message.split('\n')[1]
  })))
  t.same(texts, ['é'.repeat(2_000), `${'\u{1F600}'.repeat(999)}a`])
  t.same(await fixture.runShell('printf \'{"error":"%09000d"}\' 1 >&2; exit 1'), failed('0'.repeat(8_192)), 'its own error keeps its beginning')
})

t.test('A40 X6 a failure has the code and the text, nothing of the worker', async t => {
  const fixture = await createCommandFixture(t)
  const outcome = await fixture.runShell('exit 1')
  t.same(Object.keys(outcome), ['ok', 'error'])
})
