import { createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const value = 'zqsecretvalue77'
/** Opens a tunnel to a host whose name has the secret, and leaves it open. */
const program = (port: number): string => `python3 - <<'END'
import base64, os, socket
from urllib.parse import urlparse
proxy, host = urlparse(os.environ["HTTP_PROXY"]), os.environ["TOKEN"] + ".api.test:${port}"
token = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
tunnel = socket.create_connection((proxy.hostname, proxy.port))
tunnel.sendall(f"CONNECT {host} HTTP/1.1\\r\\nHost: {host}\\r\\nProxy-Authorization: Basic {token}\\r\\n\\r\\n".encode())
tunnel.recv(200)
END`

void t.test('the audit of a connection that is closed after its call has ended does not have the secret of the call', { skip }, async t => {
  const sockets: Socket[] = []
  // It ends no connection by itself.
  const host = createServer({ allowHalfOpen: true }, socket => { sockets.push(socket.on('error', () => {}).resume()) })
  await new Promise<void>(resolve => { host.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { host.close() })
  const { port } = host.address() as AddressInfo
  const audited: string[] = []
  const tools = await boxedTools(t, {
    audit: {
      record: ({ argv, egress }) => { if (egress !== undefined) audited.push(JSON.stringify([argv, egress])) },
      flush: async () => { await Promise.resolve() }
    },
    http: { privateHosts: [`${value}.api.test`], lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) } },
    secrets: { open: async () => await Promise.resolve(new Map([['api', value]])) }
  })
  const uses = { TOKEN: { secret: 'api', as: 'env' } } as const
  t.match(await tools.shell(program(port), { network: [`*.api.test:${port}`], uses }), { ok: true })
  const [socket] = await waitFor('the host has it', () => sockets.length === 1 && sockets)
  t.same(audited, [], 'it is still open')
  socket?.destroy()
  await waitFor('it is in the audit', () => audited.length === 1)
  t.match(audited, [/REDACTED.*api\.test/])
  t.notMatch(audited.join(), value)
})
