import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { findOnPath } from '@toolyard/sandbox'
import { boxedTools, withoutBox, type BoxedRun, type BoxedTools } from '../sandbox/boxed-tools.ts'
import { ancestor, waitingPrograms, nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'
import { anyCharacter } from '../support/any-character.ts'

const skip = await withoutBox()
/** When the box of a call was made, in ticks since the machine started. */
const born = 'cut -d" " -f22 /proc/1/stat'
const script = (text: string): BoxedRun => ({ program: '/bin/sh', args: ['-c', text] })

/** The words of two calls, the first in a box of its own, the second in one that was made ahead. */
async function bothWays (tools: BoxedTools, run: BoxedRun): Promise<[unknown, unknown]> {
  const cold = await tools.run(run)
  await waitFor('a box waits', () => tools.executors.waiting() > 0)
  const served = await tools.run(run)
  return [cold, served]
}

void t.test('a call is served by a box that was made before it, and no box serves two', { skip }, async t => {
  const tools = await boxedTools(t)
  const times: number[] = []
  for (let call = 0; call < 3; call++) {
    await tools.stock({})
    const ticks = Number(execFileSync('/bin/sh', ['-c', 'cut -d" " -f22 /proc/self/stat']))
    await waitFor('the clock goes on', () => Number(execFileSync('/bin/sh', ['-c', 'cut -d" " -f22 /proc/self/stat'])) > ticks)
    const outcome = await tools.run(script(born))
    const time = Number((outcome as { output: number }).output)
    t.ok(time <= ticks)
    times.push(time)
  }
  t.equal(new Set(times).size, 3)
})

void t.test('a program finds the same in a box that was made ahead: arguments, name, variables, directory, descriptors, limits', { skip }, async t => {
  const tools = await boxedTools(t, { env: { ...process.env, ODD: 'a=b\nc\'"$(x) ä', EMPTY: '', PERL5OPT: '-Mnothing', LD_BIND_NOW: '1' } })
  const look = "tr '\\0' '|' < /proc/self/cmdline; tr '\\0' '\\n' < /proc/self/environ | sort; env | sort; pwd; ls -l /proc/self/fd | sed 's/.* -> /-> /; s/[0-9][0-9]*/N/g'; ulimit -a; umask; cat /proc/self/status | grep -E 'Sig(Blk|Ign)|Seccomp|NoNewPrivs|Cap'"
  const [cold, served] = await bothWays(tools, { ...script(look), envPassthrough: ['ODD', 'EMPTY', 'PERL5OPT', 'LD_BIND_NOW'], trace: { variables: { TRACEPARENT: '00-1' } } })
  t.match(cold, { ok: true })
  t.same(served, cold)
})

void t.test('a box that was built while the directory of the program was away serves no call of it', { skip }, async t => {
  // What a bubblewrap does that finds no such directory.
  const passing = [
    '#!/usr/bin/perl', 'my $at = 0; my $waits = grep { /^open my/ } @ARGV',
    'while ($waits && $at < @ARGV) { if ($ARGV[$at] eq "--ro-bind-try" && $ARGV[$at + 2] =~ m{/tools$}) { splice @ARGV, $at, 3 } else { $at++ } }',
    `exec "${findOnPath('bwrap', process.env['PATH'])}", @ARGV`
  ]
  const directory = t.testdir({ bwrap: passing.join(';\n').replace(';', '') })
  chmodSync(join(directory, 'bwrap'), 0o755)
  const tools = await boxedTools(t, { env: { ...process.env, PATH: `${directory}:${process.env['PATH']}` } })
  const program = tools.program('here', '#!/bin/sh\necho here\n')
  const [cold, served] = await bothWays(tools, { program })
  t.same([cold, served].map(outcome => (outcome as { output?: unknown }).output), ['here', 'here'])
})

void t.test('any arguments reach a program as they are', { skip }, async t => {
  const tools = await boxedTools(t)
  const text = fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), fc.constantFrom('', '-', '--', '-e', '=', 'A=b', '\n', '1\n', '%s', '$(x)')).filter(each => !each.includes('\0'))
  await fc.assert(fc.asyncProperty(fc.array(text, { maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), async (words, value) => {
    await tools.stock({})
    const outcome = await tools.run({ program: '/bin/sh', args: ['-c', 'printf "%s\\0" "$@" | base64 -w 0; echo; base64 -w 0', 'sh', ...words], arguments: { value } })
    const [args = '', stdin = ''] = String((outcome as { output: unknown }).output).split('\n')
    t.same(Buffer.from(args, 'base64').toString(), words.length === 0 ? '\0' : words.map(word => `${Buffer.from(word).toString()}\0`).join(''))
    t.same(JSON.parse(Buffer.from(stdin, 'base64').toString()), JSON.parse(JSON.stringify({ value })))
  }), { numRuns: 25 })
})

void t.test('stdin is a file that can be opened again, and has the arguments of this call alone', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.stock({})
  const run = { ...script('cat /dev/stdin; stat -L -c %F /dev/stdin; (echo x > /dev/stdin) 2>/dev/null || echo kept'), arguments: { text: 'x'.repeat(2_000) } }
  t.equal((await tools.run(run) as { output: unknown }).output, `${JSON.stringify(run.arguments)}regular file\nkept`)
})

for (const [what, run] of Object.entries<BoxedRun>({
  'that are longer than an order': { program: '/bin/echo', args: Array.from({ length: 20 }, () => 'x'.repeat(10_000)) },
  'with a NUL': { program: '/bin/echo', args: ['a\0b'] }
})) {
  void t.test(`arguments ${what} are answered as in a box that is made for its call`, { skip }, async t => {
    const tools = await boxedTools(t)
    const cold = await tools.run(run)
    await tools.stock({})
    t.same(await tools.run(run), cold)
  })
}

void t.test('a program that can\'t be started is told as in a box that is made for its call', { skip }, async t => {
  const tools = await boxedTools(t)
  for (const text of ['#!/nowhere/sh\n', '#!/usr/bin/env nowhere\n', '#!/bin/sh\r\necho x\n', 'no program']) {
    const program = tools.program('broken', text)
    const cold = await tools.run({ program })
    // A file that is no program is refused before there is a box.
    if (text.startsWith('#!')) await waitFor('a box waits', () => tools.executors.waiting() > 0)
    const served = await tools.run({ program })
    t.match(cold, { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
    t.same(served, cold)
  }
})

void t.test('a program that no longer fits its pin is refused, though a box waits', { skip }, async t => {
  const tools = await boxedTools(t)
  const text = '#!/bin/sh\necho old\n'
  const run = { program: tools.program('tool', text), sha256: createHash('sha256').update(text).digest('hex') }
  t.match(await tools.run(run), { ok: true, output: 'old' })
  await waitFor('a box waits', () => tools.executors.waiting() > 0)
  tools.program('tool', text.replace('old', 'new'))
  t.match(await tools.run(run), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

void t.test('a program that is replaced is run as it is now', { skip }, async t => {
  const tools = await boxedTools(t)
  const run = { program: tools.program('tool', '#!/bin/sh\necho old\n') }
  t.match(await tools.run(run), { ok: true, output: 'old' })
  await waitFor('a box waits', () => tools.executors.waiting() > 0)
  renameSync(tools.program('other', '#!/bin/sh\necho new\n'), run.program)
  t.match(await tools.run(run), { ok: true, output: 'new' })
})

void t.test('a workspace that another directory has taken the place of isn\'t shown by a box that was made before', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.stock({})
  renameSync(tools.workspace, `${tools.workspace}-old`)
  mkdirSync(tools.workspace)
  writeFileSync(join(tools.workspace, 'new'), '')
  t.match(await tools.run(script('ls')), { ok: true, output: 'new' })
})

void t.test('a box of other permissions, limits or sessions serves no call', { skip }, async t => {
  const tools = await boxedTools(t)
  const [one, two] = ['one', 'two'].map(id => ({ id, dir: join(tools.base, id) }))
  if (one === undefined || two === undefined) throw new Error('no sessions')
  for (const { dir, id } of [one, two]) {
    mkdirSync(dir)
    writeFileSync(join(dir, 'whose'), id)
  }
  writeFileSync(join(tools.workspace, 'whose'), 'shared')
  const wide = { permissions: ['read_repo', 'write_files'] as const, session: one }
  await tools.stock(wide)
  t.match(await tools.run({ ...script('cat whose'), session: two }), { ok: true, output: 'two' })
  t.match(await tools.run(script('cat whose')), { ok: true, output: 'shared' })
  t.match(await tools.run({ ...script('touch more'), session: one }), { ok: false })
  t.match(await tools.run({ ...script('ulimit -f'), ...wide, limits: { fileBytes: 1_024 } }), { ok: true, output: 2 })
  await tools.stock(wide, 5)
  t.match(await tools.run({ ...script('cat whose; touch more'), ...wide }), { ok: true, output: 'one' })
  t.ok(readdirSync(one.dir).includes('more'))
})

void t.test('a call that is cancelled or timed out leaves nothing of a box that was made ahead', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const run = script(`setsid sleep ${seconds} & sleep ${seconds}`)
  await tools.stock({})
  const abort = new AbortController()
  const call = tools.run({ ...run, signal: abort.signal })
  await waitFor('it runs', () => running('sleep', seconds).length === 2)
  abort.abort()
  t.match(await call, { ok: false, error: { code: 'JOB_CANCELLED' } })
  await tools.stock({})
  t.match(await tools.run({ ...run, timeoutMs: 300 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.same(running('sleep', seconds), [])
})

void t.test('a box that has ended meanwhile serves no call', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.stock({})
  for (const pid of await waitFor('it is there', () => waitingPrograms().length > 0 && waitingPrograms())) process.kill(pid, 'SIGKILL')
  t.match(await tools.run(script('echo served')), { ok: true, output: 'served' })
})

void t.test('a box of which a process was stopped meanwhile serves no call', { skip }, async t => {
  const tools = await boxedTools(t)
  for (const steps of [0, 1, 2]) {
    await tools.stock({})
    const waiting = await waitFor('it is there', () => waitingPrograms().length > 0 && waitingPrograms())
    const stopped = waiting.map(pid => ancestor(pid, steps))
    for (const pid of stopped) process.kill(pid, 'SIGSTOP')
    await waitFor('they stand still', () => stopped.every(pid => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') T ')))
    t.match(await tools.run({ ...script('echo served'), timeoutMs: 10_000 }), { ok: true, output: 'served' }, `${steps} above the program`)
    for (const pid of stopped) {
      try {
        process.kill(pid, 'SIGCONT')
      } catch {
        // It was ended with its box.
      }
    }
  }
})

void t.test('no box is left when the executors are closed', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.stock({})
  await waitFor('it is there', () => waitingPrograms().length > 0)
  await tools.executors.close()
  t.same(waitingPrograms(), [])
})
