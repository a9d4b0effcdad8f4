import t from 'tap'
import { createFixture } from './fixture.ts'

const failed = (message: string, details?: unknown): object => ({ ok: false, error: { code: 'TOOL_FAILED', message, ...(details === undefined ? {} : { details }) } })

t.test('A39 X6 the string "error" of a JSON object on stderr is the message', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('echo \'{"error":"no such city"}\' >&2; exit 1'), failed('no such city'))
})

t.test('X6 the other fields of that object are the details', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('echo \'{"error":"no such city","city":"X","__proto__":{"a":1}}\' >&2; exit 1'), failed('no such city', JSON.parse('{"city":"X","__proto__":{"a":1}}')))
})

t.test('X6 B4 any other stderr is the message as it is, trimmed', async t => {
  const fixture = createFixture(t)
  const texts = ['plain  text', '{"error":5}', '{"error":""}', '{"message":"x"}', '["error"]', '{"error":"a"} {"error":"b"}', 'null', '{broken', `{"error":"deep","x":${'['.repeat(600)}${']'.repeat(600)}}`]
  for (const text of texts) {
    t.same(await fixture.run({ program: fixture.shell('fail', 'printf "\\n %s \\n" "$1" >&2; exit 1'), args: [text] }), failed(text))
  }
})

t.test('AC17 without stderr the message tells the exit status', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('exit 3'), failed('exit status 3'))
  t.same(await fixture.runShell('echo " " >&2; exit 255'), failed('exit status 255'))
})

t.test('AC17 stdout is dropped on failure', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('echo \'{"secret":1}\'; exit 1'), failed('exit status 1'))
})

t.test('fault 8 exit code, signal and a program that never ran are told apart', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('exit 9'), failed('exit status 9'))
  t.same(await fixture.runShell('kill -9 $$'), failed('signal: SIGKILL'))
  t.same(await fixture.runShell('kill -SEGV $$'), failed('signal: SIGSEGV'))
  t.match(await fixture.run({ program: '/no/such/program' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('B4 a message is bounded and never cut inside a surrogate pair', async t => {
  const fixture = createFixture(t)
  t.same(await fixture.runShell('yes é | head -n 20000 | tr -d "\\n" >&2; exit 1'), failed('é'.repeat(8_192)))
  t.same(await fixture.runShell('{ printf a; yes \u{1F600} | head -n 9000 | tr -d "\\n"; } >&2; exit 1'), failed(`a${'\u{1F600}'.repeat(4_095)}`))
})

t.test('A40 X6 a failure has the code and the text, nothing of the worker', async t => {
  const fixture = createFixture(t)
  const outcome = await fixture.runShell('exit 1')
  t.same(Object.keys(outcome), ['ok', 'error'])
})
