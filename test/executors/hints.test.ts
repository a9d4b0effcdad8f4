import t from 'tap'
import { withHint, type Outcome } from '@toolyard/executors'
import { createFixture } from './fixture.ts'
import { toolOf } from './mcp-fixture.ts'

const hintOf = (outcome: Outcome): unknown => outcome.ok ? 'it succeeded' : (outcome.error.details as { hint?: unknown } | undefined)?.hint

t.test('the error of a tool that misses a variable names envPassthrough, whether the service has the variable or not', async t => {
  const scripts = ['set -u; echo $CITY_TOKEN', 'echo "CITY_TOKEN is not set" >&2; exit 1', 'echo "KeyError: \'CITY_TOKEN\'" >&2; exit 1', 'echo "missing environment variable CITY_TOKEN" >&2; exit 1']
  for (const env of [{}, { CITY_TOKEN: 'hidden' }]) {
    const fixture = createFixture(t, { env: { PATH: '/usr/bin:/bin', ...env } })
    for (const script of scripts) {
      t.equal(hintOf(await fixture.runShell(script)), 'If CITY_TOKEN is an environment variable: the tool gets those alone that "envPassthrough" of its manifest entry names.', script)
    }
    t.equal(hintOf(await fixture.runShell(scripts[1] ?? '', { envPassthrough: ['CITY_TOKEN'] })), undefined, 'its manifest names it')
  }
})

t.test('there is no hint for variables that tools always get, for words that are none, for secrets of the service, or beside a hint of the tool', async t => {
  const fixture = createFixture(t)
  for (const text of ['PATH: unbound variable', 'REDIS_URL is not set', 'JSON is required', 'no such city', 'set the CITY_PROXY environment variable to your proxy', 'KeyError: \'city\'']) {
    t.equal(hintOf(await fixture.runShell(`echo "${text}" >&2; exit 1`)), undefined, text)
  }
  t.equal(hintOf(await fixture.runShell('echo \'{"error":"CITY_TOKEN is not set","hint":"ask Ada"}\' >&2; exit 1')), 'ask Ada')
})

t.test('the error of a Node.js that finds no room for its code names memoryBytes', async t => {
  const fixture = createFixture(t)
  t.match(hintOf(await fixture.runShell('echo "# Fatal process out of memory: Failed to reserve virtual memory for CodeRange" >&2; exit 133')), /raise "memoryBytes" .* to 640 MiB/)
})

t.test('without a sandbox no permission is missing, so none is named', async t => {
  const fixture = createFixture(t)
  for (const text of ['touch: Read-only file system', 'connect ECONNREFUSED 127.0.0.1:5432']) {
    t.equal(hintOf(await fixture.runShell(`echo "${text}" >&2; exit 1`)), undefined, text)
  }
})

t.test('the error of a boxed server names what its box shows, and the limits that .NET calls memory', async t => {
  const hint = (message: string, args: string[] = []): unknown => {
    const error = { code: 'TOOL_UNAVAILABLE', message: `MCP server "sample" can't be used: exit status 1; its stderr: ${message}` } as const
    return hintOf(withHint({ ok: false, error }, toolOf('echo', args), ['read_repo']))
  }
  t.match(hint("Error: Cannot find module '/srv/weather/index.js'", ['/srv/weather/index.js']), /Put \/srv\/weather\/index\.js and what it needs into tools\/, or install it as a package/)
  t.match(hint("python3: can't open file '/srv/w.py': [Errno 2] No such file or directory", ['/srv/w.py']), /Put \/srv\/w\.py /)
  t.equal(hint("Error: Cannot find module './part'", ['/srv/weather/index.js']), undefined)
  t.match(hint('TypeError: fetch failed'), /The tool has no network: "network" in its "permissions" gives it one/)
  const fetching = toolOf('echo', [], { connection: { kind: 'stdio', program: 'npx', args: ['-y', 'far-server'], env: {} } })
  const late = { code: 'TOOL_UNAVAILABLE', message: "MCP server \"sample\" can't be used: Request timed out" } as const
  t.match(hintOf(withHint({ ok: false, error: late }, fetching, ['read_repo'])), /npx fetches the server from the network .* install the server .* "permissions": \["network"\]/)
  t.equal(hintOf(withHint({ ok: false, error: late }, fetching, ['network'])), undefined)
  t.equal(hintOf(withHint({ ok: false, error: { ...late, code: 'TOOL_FAILED' } }, fetching, ['read_repo'])), undefined, 'a call that failed is not about its start')
  const taking = toolOf('echo', [], { connection: { kind: 'stdio', program: '/usr/bin/serve', args: [], env: { TOKEN: { setting: 'FAR_TOKEN' } } } })
  const missing = { code: 'TOOL_UNAVAILABLE', message: "MCP server \"sample\" can't be used: the worker has no environment variable FAR_TOKEN" } as const
  t.match(hintOf(withHint({ ok: false, error: missing }, taking, ['read_repo'])), /takes FAR_TOKEN from the workers: put the value into their environment/)
  t.match(hint('Out of memory.'), /"memoryBytes" .* is 4294967296 now\. Programs of \.NET say this of "openFiles" too, which is 1024 now\./)
  t.match(hint('java.lang.OutOfMemoryError: Java heap space'), /"memoryBytes" in the "limits" of its manifest entry is 4294967296 now\.$/)
})
