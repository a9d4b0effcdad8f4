import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { boxedTools, withoutBox, type BoxedTools } from './boxed-tools.ts'

const skip = await withoutBox()
const value = 'zqsecretvalue77'
/** Opens a tunnel to a host, and leaves it open. */
const program = (host: string, { isNamed = true, seconds = 0 } = {}): string => `python3 - <<'END'
import base64, os, socket, time
from urllib.parse import urlparse
proxy, host = urlparse(os.environ["HTTP_PROXY"]), f${JSON.stringify(host)}
token = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
name = ${isNamed ? 'f"Proxy-Authorization: Basic {token}\\r\\n"' : '""'}
tunnel = socket.create_connection((proxy.hostname, proxy.port))
tunnel.sendall(f"CONNECT {host} HTTP/1.1\\r\\nHost: {host}\\r\\n{name}\\r\\n".encode())
tunnel.recv(200)
time.sleep(${seconds})
END`

/** A host that ends no connection by itself. */
async function startHost (t: Test): Promise<{ port: number, sockets: Socket[] }> {
  const sockets: Socket[] = []
  const host = createServer({ allowHalfOpen: true }, socket => { sockets.push(socket.on('error', () => {}).resume()) })
  await new Promise<void>(resolve => { host.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { host.close() })
  return { port: (host.address() as AddressInfo).port, sockets }
}

async function auditedTools (t: Test): Promise<{ tools: BoxedTools, audited: string[] }> {
  const audited: string[] = []
  const tools = await boxedTools(t, {
    audit: {
      record: ({ argv, egress }) => { if (egress !== undefined) audited.push(JSON.stringify([argv, egress])) },
      flush: async () => { await Promise.resolve() }
    },
    http: {
      privateHosts: [`${value}.api.test`, 'a.api.test'],
      lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
    },
    secrets: { open: async () => await Promise.resolve(new Map([['api', value]])) }
  })
  return { tools, audited }
}

void t.test('the audit of a connection that is closed after its call has ended does not have the secret of the call', { skip }, async t => {
  const { port, sockets } = await startHost(t)
  const { tools, audited } = await auditedTools(t)
  const uses = { TOKEN: { secret: 'api', as: 'env' } } as const
  t.match(await tools.shell(program(`{os.environ['TOKEN']}.api.test:${port}`), { network: [`*.api.test:${port}`], uses }), { ok: true })
  const [socket] = await waitFor('the host has it', () => sockets.length === 1 && sockets)
  t.same(audited, [], 'it is still open')
  socket?.destroy()
  await waitFor('it is in the audit', () => audited.length === 1)
  t.match(audited, [/REDACTED.*api\.test/])
  t.notMatch(audited.join(), value)
})

void t.test('a connection that names no call is in the audit, though it is closed after all calls have ended', { skip }, async t => {
  const { port, sockets } = await startHost(t)
  const { tools, audited } = await auditedTools(t)
  const stop = new AbortController()
  const network = [`a.api.test:${port}`]
  const other = tools.shell(program(`a.api.test:${port}`, { seconds: 60 }), { network, signal: stop.signal })
  await waitFor('the other call has its connection', () => sockets.length === 1)
  t.match(await tools.shell(program(`a.api.test:${port}`, { isNamed: false }), { network }), { ok: true })
  await waitFor('the host has both', () => sockets.length === 2)
  stop.abort()
  t.match(await other, { ok: false })
  for (const socket of sockets) socket.destroy()
  await waitFor('both are in the audit', () => audited.length === 2)
})
