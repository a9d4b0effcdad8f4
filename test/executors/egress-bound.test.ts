import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { createConnectionBound } from '@toolyard/executors'

const connection = (): Socket => new EventEmitter() as Socket

void t.test('a network that takes all the connections it can leaves room for others, and what is closed is free again', async t => {
  const bound = createConnectionBound(64)
  const [hog, other] = [bound.network(), bound.network()]
  const taken = Array.from({ length: 1_000 }, connection).filter(hog)
  t.equal(taken.length, 32)
  t.equal(Array.from({ length: 1_000 }, connection).filter(other).length, 16)
  t.equal(hog(connection()), false)
  for (const each of taken) each.emit('close')
  t.equal(Array.from({ length: 1_000 }, connection).filter(hog).length, 24)
})
