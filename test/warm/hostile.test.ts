import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()
const maxBytes = 2 ** 25

const sh = (script: string): { program: string, args: string[], warm: number } => ({ program: '/bin/sh', args: ['-c', script], warm: 1 })

void t.test('a tool that floods its stdout before its call is reported, and nothing of it runs on', { skip }, async t => {
  const told: object[] = []
  const tools = await boxedTools(t, { logger: { warn: fields => { told.push(fields) } } })
  const mark = nap()
  void tools.keep(sh(`exec yes ${mark}`)).catch(() => {})
  await waitFor('it is told', () => told.length > 0)
  t.match(told, [{ reason: /prints/ }])
  await waitFor('it is gone', () => running('yes', mark).length === 0)
  t.equal(tools.executors.waiting('boxed'), 0)
})

void t.test('a tool that holds more memory than WARM_MAX_MB before its call is reported, and served cold', { skip }, async t => {
  const told: object[] = []
  const tools = await boxedTools(t, { warm: { maxBytes, maxIdleMs: 60_000 }, logger: { warn: fields => { told.push(fields) } } })
  const tool = sh('held=$(head -c 50000000 /dev/zero | tr "\\0" x); read -r line; printf %s "$held" | wc -c')
  void tools.keep(tool).catch(() => {})
  await waitFor('it is told', () => told.length > 0)
  t.match(told, [{ reason: /WARM_MAX_MB/ }])
  t.match(await tools.run(tool), { ok: true, output: 50_000_000 })
})

void t.test('what a tool has started before its call is gone after its call', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const tool = sh(`sleep ${seconds} > /dev/null 2>&1 & read -r line; echo done`)
  await tools.keep(tool)
  const [started = ''] = running('sleep', seconds)
  t.match(started, /^\d+$/)
  t.match(await tools.run(tool), { ok: true, output: 'done' })
  // Another process of the tool may wait by then, with a sleep of its own.
  t.notOk(running('sleep', seconds).includes(started))
})

void t.test('the box holds before the call: a tool that may not write the workspace writes nothing while it starts', { skip }, async t => {
  const tools = await boxedTools(t)
  const tool = sh('touch early 2> /dev/null; read -r line; echo done')
  await tools.keep(tool)
  t.match(await tools.run(tool), { ok: true, output: 'done' })
  t.notOk(existsSync(join(tools.workspace, 'early')))
})

void t.test('a tool that has closed its stdin before its call runs into its timeout, and nothing of it is left', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const tool = sh(`exec 0<&-; sleep ${seconds}`)
  await tools.keep(tool)
  const [started = ''] = running('sleep', seconds)
  t.match(await tools.run({ ...tool, timeoutMs: 300, arguments: { text: 'x'.repeat(200_000) } }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(started, /^\d+$/)
  t.notOk(running('sleep', seconds).includes(started))
})
