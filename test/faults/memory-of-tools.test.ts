import { findHierarchy, memoryBound } from '@toolyard/sandbox'
import type { Outcome } from '@toolyard/executors'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { outputOf } from '../executors/fixture.ts'
import { described, toolOf } from '../executors/mcp-fixture.ts'
import { boxedTools, withoutBox, withoutGroups, type BoxedTools } from '../sandbox/boxed-tools.ts'

const skip = await withoutBox() || await withoutGroups()
const skipPython = skip === false && !hasPython() ? 'there is no Python' : skip
const mebibyte = 2 ** 20

/** Tools that have a gibibyte together, as if so many workers shared this machine. */
async function crowdedTools (t: Test, onEnded: () => void): Promise<BoxedTools> {
  const hierarchy = findHierarchy()
  if (hierarchy === undefined) throw new Error('there are no control groups')
  const memory = memoryBound(hierarchy)
  return await boxedTools(t, { groups: { workers: (memory - Math.min(memory / 4, 512 * mebibyte)) / 2 ** 30, onEnded } })
}

interface Holding {
  outcome: Promise<Outcome>
  isOver: () => boolean
}

/** Begins a call whose processes hold so many mebibytes each, and go on for good. */
function hold (
  tools: BoxedTools, tenant: string, { processes, each, signal }: { processes: number, each: number, signal: AbortSignal }
): Holding {
  const bytes = each * mebibyte
  const script = `n=0; while [ $n -lt ${processes} ]; do (head -c ${bytes} /dev/zero | tail -c ${bytes} | (head -c 1 >/dev/null; echo held by ${tenant} >&2; sleep 600)) & n=$((n+1)); done; wait`
  let over = false
  const outcome = tools.shell(script, { tenant, signal }).finally(() => { over = true })
  return { outcome, isOver: () => over }
}

void t.test('a call with many processes is ended as a whole when all tools have nearly no memory left, and the calls of others go on', { skip }, async t => {
  const stop = new AbortController()
  let ended = 0
  const tools = await crowdedTools(t, () => { ended += 1 })
  const other = hold(tools, 'other', { processes: 1, each: 100, signal: stop.signal })
  await waitFor('the other tenant holds its memory', () => tools.logged.includes('held by other'), 30_000)
  const greedy = hold(tools, 'greedy', { processes: 40, each: 32, signal: stop.signal })
  t.match(await greedy.outcome, { ok: false, error: { code: 'TOOL_FAILED', message: /^All tools of this worker together had nearly no memory left, and this call was ended: it held \d{3,} MiB$/ } })
  t.equal(ended, 1)
  t.equal(other.isOver(), false)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

/** Eighty processes fill the buffers of a hundred socket pairs each, which are memory of the kernel: more than 1.5 gibibytes. */
const fillBuffers = `
import os, socket, time
for each in range(80):
    if os.fork() == 0:
        break
else:
    time.sleep(600)
pairs = [socket.socketpair() for pair in range(100)]
for one, other in pairs:
    one.setblocking(False)
    try:
        while True:
            one.send(b'x' * 65536)
    except BlockingIOError:
        pass
time.sleep(600)
`

void t.test('what a call holds in buffers of the kernel counts as its memory', { skip: skipPython }, async t => {
  const stop = new AbortController()
  const tools = await crowdedTools(t, () => {})
  const other = hold(tools, 'other', { processes: 1, each: 200, signal: stop.signal })
  await waitFor('the other tenant holds its memory', () => tools.logged.includes('held by other'), 30_000)
  const greedy = tools.shell(`exec python3 -c "${fillBuffers}"`, { tenant: 'greedy', signal: stop.signal })
  t.match(await greedy, { ok: false, error: { code: 'TOOL_FAILED', message: /^All tools of this worker together had nearly no memory left, and this call was ended: it held \d{3,} MiB$/ } })
  t.equal(other.isOver(), false)
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

void t.test('names of files that a call looked up are dropped when memory is short, and the call goes on', { skip: skipPython }, async t => {
  const stop = new AbortController()
  let ended = 0
  const tools = await crowdedTools(t, () => { ended += 1 })
  const other = hold(tools, 'other', { processes: 1, each: 500, signal: stop.signal })
  await waitFor('the other tenant holds its memory', () => tools.logged.includes('held by other'), 30_000)
  const seek = "python3 -c \"$(printf 'import os\\nfor i in range(700000): os.path.exists(chr(47) + str(i).zfill(250))\\n')\"; echo fine"
  t.equal(outputOf(await tools.shell(seek, { tenant: 'seeker', signal: stop.signal })), 'fine')
  t.equal(ended, 0)
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

void t.test('of the owner whose calls hold the most together a call is ended, and not the greatest one of all', { skip }, async t => {
  const stop = new AbortController()
  const tools = await crowdedTools(t, () => {})
  const other = hold(tools, 'other', { processes: 1, each: 230, signal: stop.signal })
  await waitFor('the other tenant holds its memory', () => tools.logged.includes('held by other'), 30_000)
  const many: Holding[] = []
  while (!many.some(({ isOver }) => isOver()) && many.length < 6) {
    many.push(hold(tools, 'many', { processes: 1, each: 170, signal: stop.signal }))
    await waitFor('its call holds its memory, or one is over', () => tools.logged.filter(line => line === 'held by many').length === many.length || many.some(({ isOver }) => isOver()), 30_000)
  }
  t.match(await Promise.race(many.map(({ outcome }) => outcome)), { ok: false, error: { code: 'TOOL_FAILED', message: /^All tools of this worker together had nearly no memory left, and this call was ended: it held \d{3,} MiB$/ } })
  t.equal(other.isOver(), false)
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
  await Promise.all(many.map(({ outcome }) => outcome))
})

/** Holds as many mebibytes as a call says, until it ends. */
const holdingServer = `#!/usr/bin/env python3
import json, sys
held = []
for line in sys.stdin:
    message = json.loads(line)
    params = message.get('params', {})
    if message.get('method') == 'initialize':
        result = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'holding', 'version': '1'}}
    elif message.get('method') == 'tools/list':
        result = {'tools': [${JSON.stringify(described('hold'))}]}
    elif message.get('method') == 'tools/call':
        held.append(b'x' * (params['arguments']['mebibytes'] << 20))
        result = {'content': [{'type': 'text', 'text': 'held'}]}
    else:
        result = {}
    if 'id' in message:
        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)
`

void t.test('MCP servers that a tenant has in its sessions hold for it: one of them is ended, and not the call of another tenant', { skip }, async t => {
  const stop = new AbortController()
  const memory = { isShort: false }
  const tools = await crowdedTools(t, () => { memory.isShort = true })
  const other = hold(tools, 'other', { processes: 1, each: 230, signal: stop.signal })
  await waitFor('the other tenant holds its memory', () => tools.logged.includes('held by other'), 30_000)
  const source = { format: 'agentcli', file: join(tools.base, 'tools.json'), index: 0 } as const
  const server = toolOf('hold', [], { source, connection: { kind: 'stdio', program: tools.program('holding', holdingServer), args: [], env: {} } })
  for (let place = 0; place < 6 && !memory.isShort; place++) {
    await tools.executors.run(server, { mebibytes: 170 }, {
      jobId: `job-${place}`, timeoutMs: 30_000, signal: stop.signal, log: () => {}, tenant: 'many', session: { id: `session-${place}`, dir: tools.workspace }
    })
  }
  await waitFor('something is ended', () => memory.isShort, 30_000)
  t.equal(other.isOver(), false)
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

void t.test('when there are nearly no processes left, a call of the owner who has the most of them is ended, and others can begin', { skip }, async t => {
  const stop = new AbortController()
  const tools = await boxedTools(t, { groups: { workers: 1, processes: 560 } })
  // Five of these have nine tenths, and not all of what there may be.
  const crowd = (tenant: string): Holding => {
    let over = false
    const outcome = tools.shell(`n=0; while [ $n -lt 100 ]; do sleep 600 & n=$((n+1)); done; echo crowd of ${tenant} >&2; wait`, { tenant, signal: stop.signal })
    return { outcome: outcome.finally(() => { over = true }), isOver: () => over }
  }
  const other = crowd('other')
  await waitFor('the other tenant has its processes', () => tools.logged.includes('crowd of other'), 30_000)
  const many = ['many', 'many', 'many', 'many'].map(crowd)
  t.match(await Promise.race(many.map(({ outcome }) => outcome)), { ok: false, error: { code: 'TOOL_FAILED', message: /^All tools of this worker together had nearly no processes left, and this call was ended: it had \d+, with threads$/ } })
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
  t.equal(other.isOver(), false)
  stop.abort()
  t.match(await other.outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
  await Promise.all(many.map(({ outcome }) => outcome))
})
