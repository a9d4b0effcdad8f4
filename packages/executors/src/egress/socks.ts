import type { Socket } from 'node:net'
import { isIPv6 } from 'node:net'
import { canonicalHost } from '@toolyard/runtime/outgoing'
import type { CallTable } from './calls.ts'
import { EgressRefusal, type Target } from './target.ts'
import type { HttpProxy } from './http-proxy.ts'

const [version, connectCommand] = [5, 1]
const handshakeMs = 15_000
const replies = { done: 0, denied: 2, unreachable: 4, unknownCommand: 7 }

/** Serves one connection of SOCKS 5 (RFC 1928, 1929): CONNECT alone, with or without a user's name. */
export async function serveSocks (
  client: Socket, { calls, http }: { calls: CallTable, http: HttpProxy }
): Promise<void> {
  const timer = setTimeout(() => { client.destroy() }, handshakeMs)
  client.on('error', () => {}).once('close', () => { clearTimeout(timer) })
  const token = await greet(client)
  const by = calls.find(token)
  const target = await requested(client)
  clearTimeout(timer)
  if (target === undefined) return reply(client, replies.unknownCommand)
  try {
    await http.carry({ client, head: Buffer.alloc(0), target, by }, () => { client.write(replyBytes(replies.done)) })
  } catch (error) {
    if (!(error instanceof EgressRefusal)) throw error
    reply(client, error.status === 403 ? replies.denied : replies.unreachable)
  }
}

/** The password, where the program has one: it names the call. */
async function greet (client: Socket): Promise<string | undefined> {
  const [first = 0, count = 0] = await take(client, 2)
  if (first !== version) throw new Error('no SOCKS 5')
  const methods = await take(client, count)
  if (!methods.includes(2)) {
    client.write(Buffer.from([version, methods.includes(0) ? 0 : 255]))
    if (methods.includes(0)) return undefined
    throw new Error('no method')
  }
  client.write(Buffer.from([version, 2]))
  const [, nameLength = 0] = await take(client, 2)
  await take(client, nameLength)
  const [length = 0] = await take(client, 1)
  const password = (await take(client, length)).toString('latin1')
  client.write(Buffer.from([1, 0]))
  return password
}

/** Undefined for anything but CONNECT to a host. */
async function requested (client: Socket): Promise<Target | undefined> {
  const [, command, , kind] = await take(client, 4)
  const host = await hostOf(client, kind)
  const port = (await take(client, 2)).readUInt16BE(0)
  const canonical = host === undefined ? undefined : canonicalHost(host)
  return command !== connectCommand || canonical === undefined || port === 0 ? undefined : { host: canonical, port }
}

async function hostOf (client: Socket, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return (await take(client, 4)).join('.')
  if (kind === 3) return (await take(client, (await take(client, 1))[0] ?? 0)).toString('latin1')
  if (kind !== 4) throw new Error('no kind of address')
  const bytes = await take(client, 16)
  const text = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(':')
  return isIPv6(text) ? text : undefined
}

function reply (client: Socket, code: number): void {
  client.end(replyBytes(code))
}

function replyBytes (code: number): Buffer {
  return Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

/** Exactly so many bytes. @throws Error when the program has ended before. */
async function take (client: Socket, bytes: number): Promise<Buffer> {
  if (bytes === 0) return Buffer.alloc(0)
  if (client.destroyed || client.readableEnded) throw new Error('ended')
  let taken = Buffer.alloc(0)
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => { client.off('data', add).off('end', fail).off('close', fail).pause() }
    const fail = (): void => {
      leave()
      reject(new Error('ended'))
    }
    const add = (chunk: Buffer): void => {
      taken = Buffer.concat([taken, chunk])
      if (taken.length < bytes) return
      leave()
      if (taken.length > bytes) client.unshift(taken.subarray(bytes))
      resolve()
    }
    // `readable` would tell again and again of a part that is too short, and nothing else would have a turn.
    client.on('data', add).once('end', fail).once('close', fail).resume()
  })
  return taken.subarray(0, bytes)
}
