import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { startCollector, tracedTo } from '../support/collector.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { listening } from '../support/listening.ts'
import { hasPython } from '../support/python.ts'
import { freePort } from '../support/redis-process.ts'
import { bundleOf, createService } from '../support/service.ts'
import { lookAtFiles, lookAtProcesses, lookAtRedis } from './text-search.ts'

const skip = !hasPython() ? 'there is no Python' : await withoutBox()

/** A secret for each way to use one. `env`, `file` and `server` hand it to the processes of one call, or one server, alone. */
const ways = ['web', 'upstream', 'server', 'header', 'env', 'file', 'skill', 'python', 'pythonHeader'] as const
type Way = typeof ways[number]
const values = Object.fromEntries(ways.map((way, at) => [way, `Zq${at}${way}Vx7KpT4mWb9RsLc2NdHy`])) as Record<Way, string>

/** A value as it is, and in the forms in which texts carry others: Base64 at each of three places, and hexadecimal. */
function formsOf (value: string): string[] {
  const shifted = [0, 1, 2].map(shift => Buffer.from(`${'x'.repeat(shift)}${value}`).toString('base64').slice(shift === 0 ? 0 : 4).replace(/.{0,3}=*$/, '').slice(0, -3))
  return [value, ...shifted, Buffer.from(value).toString('hex')]
}
const forms = ways.map(way => ({ way, texts: formsOf(values[way]) }))

interface Found { place: string, way: Way }

/** Requests that wait, and what came with them. */
const held: ServerResponse[] = []
const seen: string[] = []
const answerMcp = (message: { id?: number, method: string, params?: { protocolVersion?: string } }): object => {
  const tool = { name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } }
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: 'asked' }] }
  }
  const result = results[message.method]
  return { jsonrpc: '2.0', id: message.id, ...result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result } }
}
const upstream = createServer((request, response) => {
  void text(request).then(body => {
    seen.push(`${request.url} ${request.headers.authorization}`)
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/mcp') return void held.push(response)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = JSON.parse(body) as Parameters<typeof answerMcp>[0]
    if (message.id === undefined) return void response.writeHead(202).end()
    response.setHeader('x-answer', JSON.stringify(answerMcp(message)))
    if (message.method === 'tools/call') held.push(response)
    else response.end(response.getHeader('x-answer'))
  })
})
const port = await listening(t, upstream, '127.0.0.2')
const url = `http://127.0.0.2:${port}`
// NO_PROXY of tools has 127.0.0.1.
const network = [`127.0.0.2:${port}`]

/** Programs say their secret in every way that they have, and wait. */
const hold = (say: string): string => `#!/bin/sh\nread -r _\n${say}\nuntil [ -e go ]; do sleep 0.05; done\n${say}\nexit 1\n`
const server = `import sys, json
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    results = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "near", "version": "1"}}, "tools/list": {"tools": [{"name": "ask", "description": "Asks.", "inputSchema": {"type": "object"}}]}, "tools/call": {"content": [{"type": "text", "text": "asked"}]}}
    result = results.get(message["method"])
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    answer.update({"error": {"code": -32601, "message": "no"}} if result is None else {"result": result})
    print(json.dumps(answer), flush=True)
`
const python = (body: string): string => `import os, sys, time, urllib.request\nfrom toolyard import Tool\n\nclass Hold(Tool):\n    def execute(self):\n        ${body}\n`
const pythonTool = (name: string, secrets: object): object => ({ name, description: 'Holds.', module: `mods.${name}`, runtime: { permissions: ['read_repo'] }, network, secrets })

const places = mkdtempSync(join(tmpdir(), 'toolyard-search-'))
t.teardown(() => { rmSync(places, { recursive: true, force: true }) })

void t.test('fault 13 the value of a secret is in no process, file, log, trace, audit, error, metric or value of Redis but where env and file hand it out', { skip, timeout: 400_000 }, async t => {
  const collector = await startCollector(t)
  const metricsPort = await freePort()
  const service = await createService(t, {
    aof: true,
    workers: 0,
    manifests: ['tools.json', 'bundle/manifest.json', 'skills', 'layer.json'],
    files: {
      'workspace/README.md': '# A workspace\n',
      'tools/bin/hold-env': hold('echo "$TOKEN $(printf %s "$TOKEN" | base64)"; echo "$TOKEN" >&2'),
      'tools/bin/hold-file': hold('cat "$TOKEN"; cat "$TOKEN" >&2'),
      'tools/bin/hold-header': `#!/bin/sh\nread -r _\ncurl -sS -H "authorization: Bearer $TOKEN" ${url}/header\necho "$TOKEN" >&2\n`,
      'tools/bin/ready': '#!/bin/sh\nread -r _\necho done\n',
      'workspace/near-server.py': server,
      'bundle/mods/hold_python.py': python('print(os.environ["TOKEN"]); print(os.environ["TOKEN"], file=sys.stderr)\n        while not os.path.exists("go"): time.sleep(0.05)\n        raise RuntimeError("failed with " + os.environ["TOKEN"])'),
      'bundle/mods/hold_python_header.py': python(`return urllib.request.urlopen(urllib.request.Request("${url}/python", headers={"Authorization": "Bearer " + os.environ["TOKEN"]}), timeout=200).read().decode()`),
      'bundle/manifest.json': bundleOf(pythonTool('hold_python', { TOKEN: { secret: 'python', as: 'env' } }), pythonTool('hold_python_header', { TOKEN: { secret: 'pythonHeader', hosts: network } })),
      'skills/letters/SKILL.md': '---\nname: letters\ndescription: Does what letters are for.\n---\n# letters\n',
      'skills/letters/scripts/hold-skill.sh': '#!/bin/sh\necho "$TOKEN"; echo "$TOKEN" >&2\nuntil [ -e go ]; do sleep 0.05; done\nexit 1\n',
      'layer.json': JSON.stringify({ tools: [{ skill: 'letters', permissions: ['read_repo'], secrets: { TOKEN: { secret: 'skill', as: 'env' } } }] })
    },
    tools: [
      { name: 'web', http: { method: 'GET', url: `${url}/web`, headers: { Authorization: { secret: 'web', prefix: 'Bearer ' } } } },
      { name: 'far', mcp: { url: `${url}/mcp`, headers: { Authorization: { secret: 'upstream', prefix: 'Bearer ' } } } },
      { name: 'near', permissions: ['read_repo'], mcp: { command: '/usr/bin/env', args: ['python3', './near-server.py'], env: { TOKEN: { secret: 'server' } } } },
      { name: 'hold_env', command: ['./tools/bin/hold-env'], permissions: ['read_repo'], secrets: { TOKEN: { secret: 'env', as: 'env' } } },
      { name: 'hold_file', command: ['./tools/bin/hold-file'], permissions: ['read_repo'], secrets: { TOKEN: { secret: 'file', as: 'file' } } },
      { name: 'hold_header', command: ['./tools/bin/hold-header'], permissions: [], network, secrets: { TOKEN: { secret: 'header', hosts: network } } },
      { name: 'ready', command: ['./tools/bin/ready'], permissions: [], warm: 1 }
    ],
    env: {
      HTTP_PRIVATE_HOSTS: '127.0.0.2',
      SECRETS_KEY: 'ab'.repeat(32),
      SANDBOX: 'require',
      SKILLS_ALLOW_SCRIPTS: '1',
      LOG_LEVEL: 'trace',
      TOOL_TIMEOUT_SEC: '300',
      TMPDIR: places,
      ...tracedTo(collector)
    }
  })
  const { client, dir, env, redis } = service
  const worker = await service.startWorker({ METRICS_PORT: String(metricsPort) })
  for (const way of ways) t.equal((await client.request(`/v1/secrets/${way}`, { method: 'PUT', body: { value: values[way] } })).status, 200)
  const accepted = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: dir, env: { ...env, SANDBOX: 'off' } })
  t.equal(accepted.status, 0, accepted.stdout + accepted.stderr)
  await waitFor('the tools of servers are published', async () => {
    const { text: list } = await client.request('/v1/agent-tools')
    return list.includes('far_ask') && list.includes('near_ask') && list.includes('skill_run')
  })
  const names = ['web', 'far_ask', 'near_ask', 'hold_env', 'hold_file', 'hold_header', 'hold_python', 'hold_python_header']
  const calls = [...names.map(name => ({ call_id: name, name })), { call_id: 'skill', name: 'skill_run', arguments: { skill: 'letters', argv: ['scripts/hold-skill.sh'] } }]
  const began = await client.batch(calls, { mode: 'async' })
  const ids = began.results.map(result => String(result.job_id))

  const redisConnection = await connectTo(t, redis)
  /** Whose call or server may have a value: processes that run this, and what they have started. */
  const owners: Partial<Record<Way, RegExp>> = { env: /hold-env/, file: /hold-file/, server: /near-server/, skill: /hold-skill/ }
  const heldBack = new Map<Way, number>()
  async function search (): Promise<Found[]> {
    const found: Found[] = []
    const look = (place: string, bytes: Buffer | string): void => {
      for (const { way, texts } of forms) if (texts.some(form => bytes.includes(form))) found.push({ place, way })
    }
    const inProcesses: Array<Found & { pid: number }> = []
    const processes = lookAtProcesses(process.pid, ({ pid, commandLine }, place, bytes) => {
      for (const { way, texts } of forms) if (texts.some(form => bytes.includes(form))) inProcesses.push({ way, pid, place: `${pid} ${place} of ${commandLine}` })
    })
    const isOwner = (pid: number, owner: RegExp): boolean => {
      const one = processes.find(each => each.pid === pid)
      return one !== undefined && (owner.test(one.commandLine) || isOwner(one.parent, owner))
    }
    for (const { pid, ...each } of inProcesses) {
      const owner = owners[each.way]
      if (owner === undefined || !isOwner(pid, owner)) found.push(each)
      else heldBack.set(each.way, (heldBack.get(each.way) ?? 0) + 1)
    }
    for (const place of [dir, places]) lookAtFiles(place, look)
    t.ok(await lookAtRedis(redisConnection, look) > 20)
    for (const app of [service.api, worker]) look('log', await app.output())
    look('traces', collector.texts.join('\n'))
    for (const path of ['/v1/jobs', '/v1/stats', '/v1/workers', '/v1/registry', '/v1/secrets', '/v1/audit', '/metrics', ...ids.flatMap(id => [`/v1/jobs/${id}`, `/v1/jobs/${id}/logs`])]) {
      look(path, (await client.request(path)).text)
    }
    look('metrics of the worker', await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
    return found
  }

  await waitFor('all calls wait', () => {
    const programs = lookAtProcesses(process.pid, () => {}).map(({ commandLine }) => commandLine)
    return held.length === 4 && Object.values(owners).every(owner => programs.some(program => owner.test(program)))
  }, 120_000)
  t.strictSame(await search(), [], 'while the calls run')
  for (const way of ['env', 'file', 'server', 'skill'] as const) t.ok(heldBack.get(way) ?? 0, `the process with ${way} was looked at`)
  for (const [way, path] of [['web', '/web'], ['header', '/header'], ['pythonHeader', '/python'], ['upstream', '/mcp']] as const) {
    t.ok(seen.includes(`${path} Bearer ${values[way]}`), `the server got ${way}`)
  }

  writeFileSync(join(dir, 'workspace/go'), '')
  for (const response of held.splice(0)) response.end(response.getHeader('x-answer') ?? 'done')
  await waitFor('all calls have ended', async () => {
    const states = await Promise.all(ids.map(async id => (await client.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status))
    return states.every(state => ['succeeded', 'failed'].includes(state))
  }, 60_000)
  t.strictSame(await search(), [], 'when they have ended')
  worker.child.kill('SIGABRT')
  await waitFor('the worker is dead', () => worker.child.signalCode !== null)
  const cores: string[] = []
  for (const place of [dir, places]) {
    lookAtFiles(place, (path, bytes) => { if (ways.some(way => bytes.includes(values[way]))) cores.push(path) })
  }
  t.strictSame(cores, [], 'a worker that crashes leaves nothing')
})
