import { createSocket } from 'node:dgram'
import { lookup, Resolver } from 'node:dns'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { CanaryTask } from './task.ts'

/*
 * A tool with a list of one host that tries to reach others. It runs in a box like any tool, with a CanaryTask as JSON on
 * stdin, and prints a JSON array of what it could do, in sentences. It uses nothing but Node itself: in the box there is
 * nothing else.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Who started it wrote it.
const task = JSON.parse(readFileSync(0, 'utf8')) as CanaryTask
const proxies = { http: 3128, socks: 1080 }
const waitMs = 1_000

if ('serve' in task) await serve()
else process.stdout.write(JSON.stringify((await Promise.all(attempts(task))).filter(sentence => sentence !== undefined)))
process.exit()

/** Says its port, and serves until it is ended. */
async function serve (): Promise<void> {
  const server = createServer(socket => { socket.destroy() }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  process.stderr.write(`${typeof address === 'object' ? address?.port : ''}\n`)
  await once(server, 'close')
}

function attempts (
  { listed, refused, tcpPort, neighbourPort, udpPort, name, sockets }: Exclude<CanaryTask, { serve: true }>
): Array<Promise<string | undefined>> {
  return [
    unless(says(listed, 'HTTP/1.1 200 '), 'did not reach the host of its list'),
    when(connects({ host: '127.0.0.1', port: tcpPort }), 'reached a TCP port of the machine'),
    when(connects({ host: '127.0.0.1', port: neighbourPort }), 'reached what another box serves'),
    ...sockets.map(async path => await when(connects({ path }), 'reached a Unix socket of the machine')),
    ...interfaces().map(async each => await Promise.resolve(`saw the interface ${each}`)),
    ...refused.flatMap(target => [
      unless(says(target, 'HTTP/1.1 403 '), `was carried to ${target}`),
      unless(tunnelSays(target), `had a tunnel to ${target}`),
      unless(socksDenies(target), `reached ${target} through SOCKS`)
    ]),
    when(resolves(name), 'looked a name up'),
    sends(udpPort, name)
  ]
}

async function when (attempt: Promise<boolean>, sentence: string): Promise<string | undefined> {
  return await attempt ? sentence : undefined
}

async function unless (attempt: Promise<boolean>, sentence: string): Promise<string | undefined> {
  return await attempt ? undefined : sentence
}

/** Whether the answer to a request for a host begins so. */
async function says (target: string, start: string): Promise<boolean> {
  const answer = await exchange(proxies.http, [`GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`])
  return answer.toString('latin1').startsWith(start)
}

async function tunnelSays (target: string): Promise<boolean> {
  const answer = await exchange(proxies.http, [`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`])
  return answer.toString('latin1').startsWith('HTTP/1.1 403 ')
}

/** Whether the answer is the code of RFC 1928 for what a rule does not allow. */
async function socksDenies (target: string): Promise<boolean> {
  const [host = '', port = ''] = target.replace(/[[\]]/g, '').split(/:(?=\d+$)/)
  const order = Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), Buffer.from(host), Buffer.alloc(2)])
  order.writeUInt16BE(Number(port), order.length - 2)
  const answer = await exchange(proxies.socks, [Buffer.from([5, 1, 0]), order])
  return answer[3] === 2
}

/** All that a listener answers until it ends the connection, or rests. */
async function exchange (port: number, sent: ReadonlyArray<string | Buffer>): Promise<Buffer> {
  return await new Promise(resolve => {
    const got: Buffer[] = []
    const socket = createConnection({ host: '127.0.0.1', port })
    for (const part of sent) socket.write(part)
    socket.on('data', chunk => { got.push(chunk) }).on('error', () => {})
    socket.once('close', () => { resolve(Buffer.concat(got)) })
    socket.setTimeout(waitMs, () => { socket.destroy() })
  })
}

async function connects (address: { host: string, port: number } | { path: string }): Promise<boolean> {
  return await new Promise(resolve => {
    try {
      const socket = createConnection(address)
      const settle = (connected: boolean): void => {
        socket.destroy()
        resolve(connected)
      }
      socket.once('connect', () => { settle(true) }).once('error', () => { settle(false) })
      socket.setTimeout(waitMs, () => { settle(false) })
    } catch {
      resolve(false)
    }
  })
}

async function resolves (name: string): Promise<boolean> {
  return await new Promise(resolve => { lookup(name, error => { resolve(error === null) }) })
}

/** A packet, and a question to a name server: who waits outside says whether they came. */
async function sends (port: number, name: string): Promise<undefined> {
  const socket = createSocket('udp4').on('error', () => {})
  await new Promise<void>(resolve => { socket.send('canary', port, '127.0.0.1', () => { resolve() }) })
  socket.close()
  const resolver = new Resolver({ timeout: 100, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  await new Promise<void>(resolve => { resolver.resolve4(name, () => { resolve() }) })
}

/** Those beside `lo` with a route of IPv4, or an address of IPv6. Node asks by netlink, whose sockets a box hasn't. */
function interfaces (): string[] {
  const rows = (file: string): string[][] => existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(line => line.trim().split(/\s+/)) : []
  const names = [...rows('/proc/net/route').slice(1).map(([name]) => name), ...rows('/proc/net/if_inet6').map(row => row.at(-1))]
  return [...new Set(names)].filter(name => name !== undefined && name !== '' && name !== 'lo').map(String)
}
