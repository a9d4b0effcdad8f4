import { createServer } from 'node:http'
import type { AuditEntry } from '@toolyard/executors'
import t, { type Test } from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { listening } from '../support/listening.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, withoutBox, type BoxedTools } from './boxed-tools.ts'

const skip = await withoutBox()

interface Place {
  tools: BoxedTools
  /** Of the server behind `api.test` and `other.test`. */
  port: number
  entries: AuditEntry[]
  decisions: string[]
}

/** Names of the tests that are all this machine, but for those with an address of their own. */
const addresses: Record<string, string> = { 'metadata.test': '169.254.169.254' }

async function place (t: Test): Promise<Place> {
  const server = createServer((request, response) => { response.end(`${request.method} ${request.headers.host} ${request.url}`) })
  const port = await listening(t, server)
  const entries: AuditEntry[] = []
  const decisions: string[] = []
  const tools = await boxedTools(t, {
    http: {
      privateHosts: ['api.test', 'other.test', 'localhost'],
      lookup: (host, _options, callback) => {
        if (host === 'gone.test') callback(Object.assign(new Error('gone'), { code: 'ENOTFOUND' }), [])
        else callback(null, [{ address: addresses[host] ?? '127.0.0.1', family: 4 }])
      }
    },
    audit: { record: entry => { entries.push(entry) }, flush: async () => { await Promise.resolve() } },
    onConnection: decision => { decisions.push(decision) }
  })
  return { tools, port, entries, decisions }
}

void t.test('a tool reaches the host that its list names, with curl, Python, and a program that knows no proxy', { skip }, async t => {
  const { tools, port } = await place(t)
  const network = [`api.test:${port}`]
  const url = `http://api.test:${port}/x`
  const expected = `GET api.test:${port} /x`
  t.equal(outputOf(await tools.shell(`curl -s ${url}`, { network })), expected)
  t.equal(outputOf(await tools.shell(`curl -s --noproxy '*' ${url}`, { network })), expected, 'directly')
  t.equal(outputOf(await tools.shell(`curl -s -x "$TOOLYARD_SOCKS_PROXY" ${url}`, { network })), expected, 'through SOCKS')
  t.equal(outputOf(await tools.shell(`curl -sp ${url}`, { network })), expected, 'in a tunnel')
  t.equal(outputOf(await tools.shell(`/usr/bin/env python3 -c 'import urllib.request as r; print(r.urlopen("${url}").read().decode())'`, { network })), expected)
  const script = `fetch("${url}").then(r => r.text()).then(text => { process.stdout.write(text) })`
  t.equal(outputOf(await tools.run({ program: process.execPath, args: ['-e', script], network })), expected)
})

void t.test('calls of Python tools are in the network of their list, and hosts of other lists are others', { skip }, async t => {
  const server = createServer((request, response) => { response.end(`at ${request.url}`) })
  const port = await listening(t, server)
  const python = await boxedPython(t, { http: { privateHosts: ['*'], lookup: (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) } } })
  const body = `import urllib.request, urllib.error
try:
    return urllib.request.urlopen("http://api.test:${port}/p", timeout=10).read().decode()
except urllib.error.HTTPError as error:
    return error.read().decode()`
  t.match(await python.execute('reach', body, { network: [`api.test:${port}`] }), { ok: true, output: 'at /p' })
  t.match(await python.execute('reach', body, { network: ['other.test'] }), { ok: true, output: /^egress: denied api\.test/ })
  const direct = `import socket\ntry:\n    socket.create_connection(("127.0.0.1", ${port}), 2)\n    return "reached"\nexcept OSError as error:\n    return str(error.errno)`
  t.match(await python.execute('direct', direct, { network: [`api.test:${port}`] }), { ok: true, output: '111' })
})

void t.test('nothing else is reached: another host, its port, an address, the machine itself', { skip }, async t => {
  const { tools, port, decisions } = await place(t)
  const network = [`api.test:${port}`]
  const curl = async (target: string): Promise<string> => {
    const ended = await tools.shell(`curl -s -m 5 -o /dev/null -w '%{http_code}|' ${target} || echo failed`, { network })
    return String(outputOf(ended)).trim()
  }
  for (const host of ['other.test', '127.0.0.1', '2130706433', '0x7f.1', '017700000001', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    t.equal(await curl(`http://${host}:${port}/ --noproxy ''`), '403|', host)
  }
  t.equal(await curl(`http://api.test:${port + 1}/`), '403|', 'another port')
  t.equal(await curl(`--noproxy '*' http://127.0.0.1:${port}/`), '000|failed', 'directly')
  t.equal(await curl('--noproxy \'*\' http://192.0.2.1/'), '000|failed')
  t.ok(decisions.every(decision => decision === 'denied'))
})

void t.test('a denial is told to the program, in the log, in the details of the failure, and in the audit', { skip }, async t => {
  const { tools, port, entries } = await place(t)
  const ended = await tools.shell(`curl -s http://other.test:${port}/ >&2; exit 1`, { network: [`api.test:${port}`] })
  const line = `egress: denied other.test:${port}, add it to "network"`
  t.match(ended, { ok: false, error: { code: 'TOOL_FAILED', message: line, details: { egress: [line] } } })
  t.ok(tools.logged.includes(line))
  t.match(entries.find(({ egress }) => egress !== undefined), { argv: ['egress', `other.test:${port}`], egress: { host: 'other.test', port, decision: 'denied' } })
})

void t.test('a listed host that isn\'t found, or doesn\'t answer, is told in the log and in the details of the failure', { skip }, async t => {
  const { tools } = await place(t)
  for (const [target, line] of [['gone.test:443', 'egress: gone.test was not found (ENOTFOUND)'], ['api.test:9', "egress: api.test:9 can't be reached (ECONNREFUSED)"]] as const) {
    const ended = await tools.shell(`curl -sS -p http://${target}/`, { network: [target] })
    t.match(ended, { ok: false, error: { code: 'TOOL_FAILED', details: { egress: [line] } } }, line)
  }
})

void t.test('a listed name with an address inside is refused, unless HTTP_PRIVATE_HOSTS has it; a listed address is meant', { skip }, async t => {
  const { tools, port } = await place(t)
  const ended = await tools.shell('curl -s http://metadata.test/', { network: ['metadata.test'] })
  t.match(outputOf(ended), /^egress: denied metadata\.test:80: its address is not public/)
  t.equal(outputOf(await tools.shell(`curl -s --noproxy '' http://127.0.0.1:${port}/`, { network: [`127.0.0.1:${port}`] })), `GET 127.0.0.1:${port} /`)
})

void t.test('a listed loopback address is reached by programs that honour NO_PROXY, or know no proxy, and no other port of it', { skip }, async t => {
  const { tools, port } = await place(t)
  for (const host of ['127.0.0.1', 'localhost']) {
    const run = { network: [`${host}:${port}`], ...host === 'localhost' && { tenant: 'private' } }
    const script = `curl -s http://${host}:${port}/c; curl -s --noproxy '*' http://${host}:${port}/d; ` +
      `/usr/bin/env python3 -c 'import urllib.request as r; print(r.urlopen("http://${host}:${port}/p").read().decode(), end="")'; ` +
      `curl -s -m 5 -o /dev/null http://${host}:${port + 1}/; echo "|$?"`
    t.equal(String(outputOf(await tools.shell(script, run))).trim(), ['c', 'd', 'p'].map(path => `GET ${host}:${port} /${path}`).join('') + '|7', host)
  }
  const other = await tools.shell(`curl -s -m 5 --noproxy '*' http://127.0.0.1:${port}/; echo "|$?"`, { network: [`api.test:${port}`] })
  t.equal(String(outputOf(other)).trim(), '|7', 'where it is not listed')
})

void t.test('a request in the tunnel or the connection of one host is not carried to another', { skip }, async t => {
  const { tools, port } = await place(t)
  const network = [`api.test:${port}`]
  const raw = async (text: string): Promise<string> => {
    const script = `const s = require("net").connect(3128, "127.0.0.1", () => s.write(${JSON.stringify(text)})); s.on("data", d => process.stdout.write(d)); setTimeout(() => process.exit(), 700)`
    return String(outputOf(await tools.run({ program: process.execPath, args: ['-e', script], network })))
  }
  const other = 'Host: other.test\r\n\r\n'
  t.match(await raw(`GET http://api.test:${port}/ HTTP/1.1\r\n${other}`), /^HTTP\/1\.1 403 /, 'Host and line differ')
  t.match(await raw(`GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n\r\nGET http://other.test:${port}/ HTTP/1.1\r\nHost: other.test:${port}\r\n\r\n`), /200 OK[^]*403 Forbidden/, 'the second request of a connection')
  const tunnel = `CONNECT api.test:${port} HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`
  t.match(await raw(`${tunnel}GET / HTTP/1.1\r\n${other}`), /Established[^]*403 Forbidden/, 'Host in a tunnel')
  t.match(await raw(`${tunnel}GET http://other.test/ HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`), /Established[^]*403 Forbidden/, 'an absolute URL in a tunnel')
  t.match(await raw(`POST http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://other.test/ HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 400 /, 'two lengths')
})

void t.test('tenants don\'t share a network, and calls of one list and tenant do', { skip }, async t => {
  const { tools, port } = await place(t)
  const namespace = async (network: string[], tenant?: string): Promise<unknown> => outputOf(await tools.shell('readlink /proc/self/ns/net', { network, ...tenant !== undefined && { tenant } }))
  const [first, again, other, longer] = [await namespace([`api.test:${port}`], 'one'), await namespace([`api.test:${port}`], 'one'), await namespace([`api.test:${port}`], 'two'), await namespace(['api.test:81'], 'one')]
  t.equal(first, again)
  t.equal(new Set([first, other, longer]).size, 3)
})

void t.test('without a sandbox a tool that names hosts is not run', { skip }, async t => {
  const tools = await boxedTools(t, { mode: 'off' })
  t.match(await tools.shell('true', { network: ['api.test'] }), { ok: false, error: { code: 'SANDBOX_FAILED', message: /"network" of this tool names hosts/ } })
})
