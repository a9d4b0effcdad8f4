import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { createConnectionBound } from '@toolyard/executors'
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
