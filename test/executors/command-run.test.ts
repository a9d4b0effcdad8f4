import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createCommandFixture } from './command-fixture.ts'
import { createFixture, outputOf } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

t.test('A16 A37 the arguments reach stdin as JSON, exactly, with an end', async t => {
  const fixture = await createCommandFixture(t)
  const given = { text: 'a  "b"\n\\ é \u{1F600}', nested: { list: [1, 2.5, null, true] } }
  await fixture.runShell('cat > got', { arguments: given })
  t.equal(readFileSync(join(fixture.workspace, 'got'), 'utf8'), JSON.stringify(given))
})

t.test('AC14 no arguments are an empty object on stdin', async t => {
  const fixture = await createCommandFixture(t)
  await fixture.run({ program: '/bin/sh', args: ['-c', 'cat > got'] })
  t.equal(readFileSync(join(fixture.workspace, 'got'), 'utf8'), '{}')
})

t.test('A16 arguments larger than any pipe arrive whole', async t => {
  const fixture = await createCommandFixture(t)
  const outcome = await fixture.runShell('wc -c', { arguments: { text: 'x'.repeat(900_000) } })
  t.equal(outputOf(outcome), 900_011)
})

t.test('fault 4 B2 a tool that ignores or closes its stdin succeeds', async t => {
  const fixture = await createCommandFixture(t)
  const big = { text: 'x'.repeat(900_000) }
  for (const script of ['echo ok', 'exec <&-; echo ok', 'exec <&-; sleep 0.2; echo ok', 'head -c 10 > /dev/null; echo ok']) {
    t.same(await fixture.runShell(script, { arguments: big }), { ok: true, output: 'ok' })
  }
  const outcomes = await Promise.all(Array.from({ length: 60 }, () => fixture.run({ program: '/bin/true', arguments: big })))
  t.same(outcomes.filter(outcome => !outcome.ok), [])
})

t.test('A42 argv is passed as it is: nothing in it means anything to a shell', async t => {
  const fixture = await createCommandFixture(t)
  const program = fixture.shell('argv', 'for arg in "$@"; do printf "[%s]" "$arg"; done')
  const args = ['$(touch pwned)', '`id`', '; exit 7', '*', 'a b', '', '"', "'", '&& false', '--flag=$HOME', '--', '--bind', '\n']
  t.equal(outputOf(await fixture.run({ program, args })), args.map(arg => `[${arg}]`).join(''))
})

t.test('AC16 X19 the working directory is the workspace', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.run({ program: '/bin/pwd' })), realpathSync(fixture.workspace))
})

t.test('a tool has three descriptors and none of the worker', { skip: process.platform !== 'linux' }, async t => {
  const fixture = await createCommandFixture(t)
  const kinds = String(outputOf(await fixture.runShell('for fd in 0 1 2; do readlink /proc/$$/fd/$fd; done'))).split('\n')
  t.ok(kinds.every(kind => /^pipe:|(^|\/toolyard-(pipes-\w+|open-\w+|box-\w+\/channels))\/(\w+-\d+-)?(in|out|err) \(deleted\)$/.test(kind)), kinds.join())
  // `ls` itself opens the directory, as 3.
  t.equal(outputOf(await fixture.runShell('ls /proc/self/fd | tr "\\n" " "')), '0 1 2 3')
})

t.test('a tool that runs again reads all answers from a descriptor of its own, as they came', { skip: process.platform !== 'linux' }, async t => {
  const fixture = await createCommandFixture(t)
  const answers = ['{"n":1.10}', '{"n":2e400}']
  t.equal(outputOf(await fixture.runShell('sed "s/^/> /" "$TOOLYARD_ANSWER"', { answers })), '> {"n":1.10}\n> {"n":2e400}')
  t.equal(outputOf(await fixture.runShell('echo none $TOOLYARD_ANSWER')), 'none')
})

t.test('a tool may open its stdin, stdout and stderr by their paths', { skip: process.platform !== 'linux' }, async t => {
  const fixture = await createCommandFixture(t)
  t.strictSame(outputOf(await fixture.runShell('cat /dev/stdin > /dev/stdout; echo noted > /dev/stderr', { arguments: { a: 1 } })), { a: 1 })
  t.strictSame(fixture.logged, ['noted'])
})

t.test('in the open a tool leads a session of its own', { skip: process.platform !== 'linux' }, async t => {
  const fixture = createFixture(t)
  const [pid, group, session] = String(outputOf(await fixture.runShell('cut -d " " -f 1,5,6 /proc/$$/stat'))).split(' ')
  t.equal(group, pid)
  t.equal(session, pid)
})

t.test('AC19 calls run side by side', async t => {
  const fixture = await createCommandFixture(t)
  const meet = (mine: string, other: string): string => `: > ${mine}; until [ -e ${other} ]; do sleep 0.01; done; echo met`
  const outcomes = await Promise.all([fixture.runShell(meet('a', 'b')), fixture.runShell(meet('b', 'a'))])
  t.same(outcomes.map(outputOf), ['met', 'met'])
})

t.test('AC20 stderr of a tool that succeeds is logged line by line while it runs, and is no part of the output', async t => {
  const fixture = await createCommandFixture(t)
  const run = fixture.runShell('echo one >&2; echo >&2; printf "two" >&2; until [ -e go ]; do sleep 0.01; done; echo three >&2; echo out')
  await waitFor('the first line', () => fixture.logged.includes('one'))
  await fixture.runShell(': > go')
  t.equal(outputOf(await run), 'out')
  t.same(fixture.logged, ['one', 'twothree'])
})

t.test('the log of one run is bounded in lines and in their length', async t => {
  const fixture = await createCommandFixture(t)
  await fixture.runShell('{ head -c 100000 /dev/zero | tr "\\0" x; echo; yes é | head -n 5000; } >&2')
  t.equal(fixture.logged.length, 2_001)
  t.equal(fixture.logged[0], 'x'.repeat(4_096))
  t.match(fixture.logged.at(-1), /not shown/)
})
