import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { boxedTools, withoutBox, type BoxedTools } from '../sandbox/boxed-tools.ts'
import { nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()
/** Tells which process of a tool served: the time that its box began, and its arguments. */
const script = 'born=$(cut -d" " -f22 /proc/1/stat); read -r line || :; printf \'["%s",%s]\' "$born" "$line"'

const sh = (script: string): { program: string, args: string[], warm: number } => ({ program: '/bin/sh', args: ['-c', script], warm: 1 })

void t.test('each call is served by a process that was ready before, and no process serves two', { skip }, async t => {
  const tools = await boxedTools(t)
  const tool = { ...sh(script), warm: 2 }
  const born: unknown[] = []
  for (let call = 0; call < 3; call++) {
    await tools.keep(tool, 2)
    const outcome = await tools.run({ ...tool, arguments: { call } })
    const [start, given] = (outcome as { output: [string, unknown] }).output
    t.same(given, { call })
    born.push(start)
  }
  t.equal(new Set(born).size, 3)
})

void t.test('processes that were switched on beside the declaration of a tool serve its calls', { skip }, async t => {
  const tools = await boxedTools(t)
  const { program, args } = sh(script)
  await tools.keep({ program, args, warm: 1 })
  t.equal(tools.executors.waiting('boxed'), 1)
  t.match(await tools.run({ program, args, arguments: { call: 1 } }), { ok: true, output: [String, { call: 1 }] })
  t.equal(tools.executors.waiting('boxed'), 0)
})

void t.test('arguments of a megabyte reach a process that was ready completely', { skip }, async t => {
  const tools = await boxedTools(t)
  const tool = { program: '/usr/bin/wc', args: ['-c'], warm: 1 }
  await tools.keep(tool)
  t.match(await tools.run({ ...tool, arguments: { text: 'x'.repeat(1_000_000) } }), { ok: true, output: 1_000_011 })
})

void t.test('the timeout and the output of a call begin with the call, not with its process', { skip }, async t => {
  const tools = await boxedTools(t)
  const tool = sh(`read -r line; sleep ${nap()}`)
  await tools.keep(tool)
  const begun = performance.now()
  t.match(await tools.run({ ...tool, timeoutMs: 300 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.ok(performance.now() - begun < 10_000)
})

void t.test('a cancelled call leaves no process, also when one that was ready served it', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const tool = sh(`read -r line; setsid sleep ${seconds} & sleep ${seconds}`)
  await tools.keep(tool)
  const abort = new AbortController()
  const call = tools.run({ ...tool, signal: abort.signal })
  await waitFor('it runs', () => running('sleep', seconds).length === 2)
  abort.abort()
  t.match(await call, { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.same(running('sleep', seconds), [])
})

void t.test('the limit of processor time holds for a call that a ready process serves', { skip }, async t => {
  const tools = await boxedTools(t)
  const tool = { ...sh('read -r line; while :; do :; done'), limits: { cpuSec: 1 } }
  await tools.keep(tool)
  t.match(await tools.run(tool), { ok: false, error: { code: 'TOOL_FAILED' } })
})

/** The output of a call whose tool waits, changed in between by `change`. */
async function afterChange (tools: BoxedTools, tool: Parameters<BoxedTools['keep']>[0], change: () => void): Promise<unknown> {
  await tools.keep(tool)
  change()
  return await tools.run(tool)
}

void t.test('a program that changes while a process of it waits is used at once', { skip }, async t => {
  const tools = await boxedTools(t)
  const program = tools.program('tool', '#!/bin/sh\nread -r line\necho old\n')
  t.match(await afterChange(tools, { program, warm: 1 }, () => { tools.program('tool', '#!/bin/sh\nread -r line\necho new\n') }), { ok: true, output: 'new' })
})

void t.test('a script that is an argument counts as changed when only its time changes', { skip }, async t => {
  const tools = await boxedTools(t)
  const file = join(tools.workspace, 'tool.sh')
  writeFileSync(file, `${script}\n`)
  const tool = { program: '/bin/sh', args: ['tool.sh'], warm: 1 }
  await tools.keep(tool)
  const waits = tools.executors.waiting('boxed')
  utimesSync(file, 1, 1)
  t.match(await tools.run(tool), { ok: true })
  t.equal(waits, 1)
  await waitFor('another one waits', () => tools.executors.waiting('boxed') === 1)
})

void t.test('a program that no longer fits its pin is refused, though a process of it waits', { skip }, async t => {
  const tools = await boxedTools(t)
  const text = '#!/bin/sh\nread -r line\necho old\n'
  const program = tools.program('tool', text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const tool = { program, sha256, warm: 1 }
  t.match(await afterChange(tools, tool, () => { tools.program('tool', text.replace('old', 'new')) }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

void t.test('a call in a session, or in a trace, is served cold, with its own workspace and its own trace', { skip }, async t => {
  const tools = await boxedTools(t)
  writeFileSync(join(tools.workspace, 'whose'), 'shared')
  const dir = join(tools.base, 'session')
  mkdirSync(dir)
  writeFileSync(join(dir, 'whose'), 'session')
  const tool = sh('read -r line; cat whose; printf " %s" "$TRACEPARENT"')
  await tools.keep(tool)
  t.match(await tools.run({ ...tool, session: { id: 'one', dir } }), { ok: true, output: 'session' })
  t.match(await tools.run({ ...tool, trace: { variables: { TRACEPARENT: '00-1' } } }), { ok: true, output: 'shared 00-1' })
  t.equal(tools.executors.waiting('boxed'), 1)
  t.match(await tools.run(tool), { ok: true, output: 'shared' })
})

for (const [what, text, reason] of [
  ['prints', 'echo early; read -r line; echo late', /prints/],
  ['ends', 'exit 0', /ends/],
  ['begins a session of its own', 'setsid sleep 600 & sleep 0.1; read -r line; echo late', /session/]
] as const) {
  void t.test(`a tool that ${what} before it has its arguments is reported once, and served cold`, { skip }, async t => {
    const told: object[] = []
    const tools = await boxedTools(t, { logger: { warn: fields => { told.push(fields) } } })
    const tool = sh(text)
    void tools.keep(tool).catch(() => {})
    await waitFor('it is told', () => told.length > 0)
    for (let call = 0; call < 2; call++) t.match(await tools.run(tool), { ok: true })
    t.match(told, [{ tool: 'boxed', reason }])
    t.equal(told.length, 1)
    t.equal(tools.logged.filter(line => line.startsWith('[warm: ')).length, 1)
  })
}

void t.test('a waiting process and all that it started are stopped until its call', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const tool = sh(`sleep ${seconds} & read -r line; kill $!; echo done`)
  await tools.keep(tool)
  const states = [...running('sleep', seconds), ...running('/bin/sh', '-c', tool.args[1] ?? '')].map(pid => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1])
  t.same(states, ['T', 'T'])
  t.match(await tools.run(tool), { ok: true, output: 'done' })
})

void t.test('what a process has put into its temporary files counts as its memory', { skip }, async t => {
  const told: object[] = []
  const tools = await boxedTools(t, { warm: { maxBytes: 2 ** 25, maxIdleMs: 60_000 }, logger: { warn: fields => { told.push(fields) } } })
  const tool = sh('head -c 50000000 /dev/zero > /tmp/large; read -r line; echo done')
  void tools.keep(tool).catch(() => {})
  await waitFor('it is told', () => told.length > 0)
  t.match(told, [{ reason: /WARM_MAX_MB/ }])
  t.match(await tools.run(tool), { ok: true, output: 'done' })
})

void t.test('no process is left when the executors are closed, and none has seen an end of its stdin', { skip }, async t => {
  const tools = await boxedTools(t)
  const mark = nap()
  const tool = { ...sh(`read -r line; touch called; : ${mark}`), permissions: ['read_repo', 'write_files'] as const, warm: 3 }
  await tools.keep(tool, 3)
  t.equal(running('/bin/sh', '-c', tool.args[1] ?? '').length, 3)
  await tools.executors.close()
  t.same(running('/bin/sh', '-c', tool.args[1] ?? ''), [])
  t.throws(() => readFileSync(join(tools.workspace, 'called')), { code: 'ENOENT' })
})
