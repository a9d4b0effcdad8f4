import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { createCallTable, createConnectionBound } from '@toolyard/executors'
import { waitFor } from '../support/condition.ts'
import { egressProxy } from './egress-proxy.ts'

const connection = (): Socket => new EventEmitter() as Socket

void t.test('a tenant that takes all the connections it can, in many networks, leaves room for others, and what is closed is free again', async t => {
  const bound = createConnectionBound(64)
  const [other, operator] = [bound.of('other'), bound.of(undefined)]
  const taken = Array.from({ length: 20 }, () => bound.of('hog')).flatMap(hog => Array.from({ length: 100 }, connection).filter(hog))
  t.equal(taken.length, 32)
  t.equal(Array.from({ length: 1_000 }, connection).filter(other).length, 16)
  t.equal(Array.from({ length: 1_000 }, connection).filter(operator).length, 8)
  t.equal(bound.of('hog')(connection()), false)
  for (const each of taken) each.emit('close')
  t.equal(Array.from({ length: 1_000 }, connection).filter(bound.of('hog')).length, 20)
})

void t.test('a tunnel whose host never ends it is closed after its call', async t => {
  const reached: Socket[] = []
  const { program, endCall } = await egressProxy(t, socket => { reached.push(socket.resume()) }, { hosts: ['api.test:5432'], linger: 10 })
  const client = (await program()).resume()
  client.end('CONNECT api.test:5432 HTTP/1.1\r\nHost: api.test\r\n\r\nstart')
  await waitFor('the host has what the program sent', () => reached.some(socket => socket.bytesRead > 0))
  t.equal(client.closed, false)
  endCall()
  await waitFor('the connection is closed', () => client.closed)
})

void t.test('a program that goes on after its call, as an MCP server does, keeps its connections for the next one until it ends', async t => {
  const reached: Socket[] = []
  const { program, endCall } = await egressProxy(t, socket => { reached.push(socket.on('data', chunk => socket.write(chunk))) }, { hosts: ['api.test:5432'], linger: 10 })
  const connected = async (): Promise<Socket> => {
    const client = await program()
    client.write('CONNECT api.test:5432 HTTP/1.1\r\nHost: api.test\r\n\r\nstart')
    await waitFor('the host has answered', () => String(client.read() ?? '').endsWith('start'))
    return client
  }
  const kept = await connected()
  const left = (await connected()).resume()
  left.end()
  await waitFor('the host has heard that it ended', () => reached.some(socket => socket.readableEnded))
  endCall()
  await waitFor('a connection that its program has ended is closed', () => left.closed)
  kept.write('more')
  await waitFor('the other one is still there', () => String(kept.read() ?? '') === 'more')
  kept.resume().end()
  await waitFor('it is closed when its program has ended it', () => kept.closed)
})

void t.test('a connection whose host does not take what was sent is closed after its call: behind that, the end of the program is not seen', async t => {
  const calls = createCallTable(() => {}, 10)
  const call = { tool: 'hostile', job: 'job-1', log: () => {}, audit: { record: () => {}, flush: async () => { await Promise.resolve() } }, secrets: [] }
  const { leave } = calls.enter(call)
  const closed: string[] = []
  for (const [name, writableLength] of [['taken', 0], ['stuck', 1]] as const) {
    const socket = Object.assign(connection(), { writableLength, destroy: () => { closed.push(name) } })
    calls.opened({ host: name, port: 443 }, call, connection(), socket)
  }
  leave()
  await waitFor('it is closed', () => closed.length > 0)
  t.strictSame(closed, ['stuck'])
})
