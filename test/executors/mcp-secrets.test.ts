import t, { type Test } from 'tap'
import type { ExecutorOptions, Executors, Outcome, RunContext } from '@toolyard/executors'
import type { McpServer, Tool } from '@toolyard/manifests'
import { openExecutors } from '../support/tool.ts'
import { whole } from './fixture.ts'
import { opening, serveMcp } from '../support/mcp-server.ts'
import { described, program, toolOf } from './mcp-fixture.ts'

t.setTimeout(60_000)

type Source = NonNullable<ExecutorOptions['secrets']>

/** Each tenant, and the key `special`, has its own value of the secret; who is in `without` has none. */
function source (without: ReadonlySet<string | undefined> = new Set(), suffix = () => ''): Source {
  return {
    open: async (names, { keyName, tenant }) => await Promise.resolve(new Map(without.has(tenant)
      ? []
      : names.map(name => [name, `token-of-${keyName === 'special' ? keyName : tenant ?? 'operator'}${suffix()}`])))
  }
}

/** A server over HTTP that notes what its requests carry, and repeats it in its answers. */
async function serve (t: Test): Promise<{ origin: string, seen: string[] }> {
  const seen: string[] = []
  const { url } = await serveMcp(t, ({ method, request: { headers: { authorization = '' }, url = '' } }) => {
    if (method !== 'tools/call') return opening(method, [described('echo')])
    seen.push(`${authorization} ${url}`)
    return { content: [{ type: 'text', text: `you are ${authorization}` }] }
  })
  return { origin: new URL(url).origin, seen }
}

function worker (t: Test, secrets: Source | undefined): Executors {
  return openExecutors(t, { env: process.env, secrets })
}

async function run (executors: Executors, tool: Tool, context: Partial<RunContext> = {}): Promise<Outcome> {
  return whole(await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 20_000, signal: new AbortController().signal, log: () => {}, ...context }))
}

/** One of 2026. */
const modern: Record<string, object> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'modern', version: '1' }, ttlMs: 0, cacheScope: 'private' },
  'tools/list': { tools: ['echo', 'env'].map(described), ttlMs: 0, cacheScope: 'private' }
}
const question = { method: 'elicitation/create', params: { message: 'Which?', requestedSchema: { type: 'object', properties: { x: { type: 'string' } } } } }

const far = (origin: string): Partial<McpServer> => ({
  connection: { kind: 'http', url: { secret: 'address', prefix: `${origin}/mcp?key=` }, headers: { Authorization: { secret: 'api', prefix: 'Bearer ' } } }
})
const local = (): Partial<McpServer> => ({ connection: { kind: 'stdio', program: process.execPath, args: [program], env: { TOKEN: { secret: 'api' } } } })

t.test('two tenants call the same tool of an MCP server with their own tokens, which it sees, and no answer shows', async t => {
  const { origin, seen } = await serve(t)
  const executors = worker(t, source())
  const tool = toolOf('echo', [], far(origin))
  const callers = [{ tenant: 'acme' }, { tenant: 'other' }, {}, { tenant: 'acme', keyName: 'special' }]
  for (let round = 0; round < 2; round++) {
    for (const each of callers) t.strictSame(await run(executors, tool, each), { ok: true, output: 'you are [secret]' })
  }
  const expected = ['acme', 'other', 'operator', 'special'].map(who => `Bearer token-of-${who} /mcp?key=token-of-${who}`)
  t.strictSame(seen, [...expected, ...expected])
})

t.test('a call whose secret nobody has stored is SECRET_MISSING and reaches no MCP server, also where its connection is open', async t => {
  const { origin, seen } = await serve(t)
  const without = new Set<string | undefined>()
  const executors = worker(t, source(without))
  const tool = toolOf('echo', [], far(origin))
  t.match(await run(executors, tool, { tenant: 'acme' }), { ok: true })
  without.add('acme')
  t.match(await run(executors, tool, { tenant: 'acme' }), { ok: false, error: { code: 'SECRET_MISSING', message: /nobody has stored the secret (?:address|api) for this call/ } })
  t.equal(seen.length, 1)
  t.match(await run(worker(t, undefined), tool), { ok: false, error: { code: 'SECRET_MISSING', message: /no SECRETS_KEY/ } })
})

t.test('a secret that has changed is used by the next call of an MCP server, over a connection of its own', async t => {
  const { origin, seen } = await serve(t)
  let version = 1
  const executors = worker(t, source(new Set(), () => `-${version}`))
  const tool = toolOf('echo', [], far(origin))
  await run(executors, tool, { tenant: 'acme' })
  version = 2
  await run(executors, tool, { tenant: 'acme' })
  t.strictSame(seen.map(line => line.split(' ')[1]), ['token-of-acme-1', 'token-of-acme-2'])
})

t.test('each key has its own process of an MCP server that is given a secret, and what it says of it is hidden', async t => {
  const executors = worker(t, source())
  const tool = (remote: string): Tool => toolOf(remote, [], local())
  const shown = await run(executors, tool('env'), { tenant: 'acme', keyName: 'one' })
  t.match(JSON.parse(String(shown.ok && shown.output)), { TOKEN: '[secret]' })
  const pids = await Promise.all(['one', 'two'].map(async keyName => JSON.stringify(await run(executors, tool('pid'), { tenant: 'acme', keyName }))))
  t.equal(new Set(pids).size, 2, pids.join())
})

t.test('a secret that no header or variable can carry fails the call of an MCP server, and is in no error', async t => {
  const { origin, seen } = await serve(t)
  const outcome = await run(worker(t, source(new Set(), () => '\r\nx-other: 1')), toolOf('echo', [], far(origin)), { tenant: 'acme' })
  t.match(outcome, { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /Authorization holds what no header can carry/ } })
  t.notMatch(JSON.stringify(outcome), /token-of/)
  t.equal(seen.length, 0)
  const cut = await run(worker(t, source(new Set(), () => '\0rest')), toolOf('echo', [], local()), { tenant: 'acme' })
  t.match(cut, { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /its variable TOKEN holds a NUL/ } })
  t.notMatch(JSON.stringify(cut), /token-of/)
})

t.test('a state that a server wants back is not kept where its secret is in it', async t => {
  const { url } = await serveMcp(t, ({ method, request: { headers: { authorization = '' } }, params: { name } }) => {
    if (method !== 'tools/call') return { resultType: 'complete', ...modern[method] }
    return { resultType: 'input_required', requestState: name === 'echo' ? `state ${authorization}` : 'state', inputRequests: { a: question } }
  })
  const call = async (name: string): Promise<Outcome> => await run(worker(t, source()), toolOf(name, [], far(new URL(url).origin)), { tenant: 'acme' })
  t.match(await call('env'), { ask: { memo: /"state":"state"/ } })
  const outcome = await call('echo')
  t.match(outcome, { ok: false, error: { code: 'QUESTION_INVALID', message: /its requestState has a secret in it/ } })
  t.notMatch(JSON.stringify(outcome), /token-of/)
})

t.test('the tools of an MCP server are listed with the operator\'s secret; without it the answer names what is missing', async t => {
  const { origin } = await serve(t)
  const { run: { server } } = toolOf('echo', [], far(origin)) as Tool & { run: { server: McpServer } }
  const tools = await worker(t, source()).toolsOf(server)
  t.match(tools, [{ name: 'echo' }])
  t.match(await worker(t, source(new Set([undefined]))).toolsOf(server), { code: 'SECRET_MISSING', message: /the operator has not stored the secret/ })
})
