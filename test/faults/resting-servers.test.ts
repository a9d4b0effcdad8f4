import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Outcome, SessionPlace } from '@toolyard/executors'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { described, toolOf } from '../executors/mcp-fixture.ts'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox, withoutGroups } from '../sandbox/boxed-tools.ts'

const skip = await withoutBox() || await withoutGroups()

/** Goes on working when its call was answered; says how much processor time it has used, in seconds. */
const busyServer = `#!/usr/bin/env python3
import json, sys, threading, time

def work():
    end = time.time() + 120
    while time.time() < end:
        pass

for line in sys.stdin:
    message = json.loads(line)
    method = message.get('method')
    if method == 'initialize':
        result = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'busy', 'version': '1'}}
    elif method == 'tools/list':
        result = {'tools': [${JSON.stringify(described('work'))}]}
    elif method == 'tools/call':
        used = time.process_time()
        if not message['params']['arguments']:
            threading.Thread(target=work, daemon=True).start()
        result = {'content': [{'type': 'text', 'text': str(used)}]}
    else:
        result = {}
    if 'id' in message:
        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)
`

/** Keeps all processors busy for two seconds; says how much of their time it got, in seconds. */
const busyCall = `#!/usr/bin/env python3
import os, sys, time

sys.stdin.read()
children = []
for _ in range(${availableParallelism()}):
    child = os.fork()
    if child == 0:
        end = time.time() + 2
        while time.time() < end:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
times = os.times()
print(times.children_user + times.children_system)
`

void t.test('MCP servers that go on working after their calls leave the processor to calls', { skip }, async t => {
  const tools = await boxedTools(t)
  const source = { format: 'agentcli', file: join(tools.base, 'tools.json'), index: 0 } as const
  const server = toolOf('work', [], { source, connection: { kind: 'stdio', program: tools.program('busy-server', busyServer), args: [], env: {} } })
  const sessions = Array.from({ length: 4 * availableParallelism() }, (_, place) => ({ id: `session-${place}`, dir: tools.workspace }))
  const callOf = async (session: SessionPlace, args: Record<string, unknown>): Promise<Outcome> => await tools.executors.run(server, args, {
    jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {}, tenant: 'many', session
  })
  const usedWith = async (args: Record<string, unknown>): Promise<number> => {
    const outcomes = await Promise.all(sessions.map(session => callOf(session, args)))
    return outcomes.reduce((sum, outcome) => sum + Number(outputOf(outcome)), 0)
  }
  await usedWith({})
  const before = await usedWith({ only: 'tell' })
  const call = await tools.run({ program: tools.program('busy-call', busyCall), tenant: 'other' })
  const servers = await usedWith({ only: 'tell' }) - before
  t.match(call, { ok: true })
  t.ok(servers < Number(outputOf(call)), `the call got ${JSON.stringify(call)} s, and all servers together ${servers} s`)
})

/** Never answers a call, and takes a second for whether it is there. */
const slowServer = busyServer.replace("elif method == 'tools/call':", `elif method == 'tools/call':
        continue
    elif method == 'ping':
        time.sleep(1)
        result = {}
    elif method == 'never':`)

void t.test('an MCP server that is asked whether it still answers has the share of a call until it does', { skip }, async t => {
  const tools = await boxedTools(t)
  const { groups } = tools.sandbox
  if (groups === undefined) throw new Error('there are no control groups')
  const told: boolean[] = []
  const resting = groups.resting.bind(groups)
  groups.resting = pid => {
    const rest = resting(pid)
    return isResting => {
      told.push(isResting)
      rest(isResting)
    }
  }
  const source = { format: 'agentcli', file: join(tools.base, 'tools.json'), index: 0 } as const
  const server = toolOf('work', [], { source, connection: { kind: 'stdio', program: tools.program('slow-server', slowServer), args: [], env: {} } })
  const call = await tools.executors.run(server, {}, { jobId: 'job-1', timeoutMs: 3_000, signal: new AbortController().signal, log: () => {} })
  t.match(call, { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.notOk(told.includes(true), 'its call is over, and it is asked')
  await waitFor('it has answered, and rests', () => told.includes(true), 10_000)
  t.equal(told.at(-1), true)
})
