import { EventEmitter } from 'node:events'
import t from 'tap'
import type { HttpError } from '@toolyard/contract'

const inside = (path: string): string => import.meta.resolve('@toolyard/api').replace(/index\.js$/, path)
const { countAnswer } = await import(inside('plugins/load/unsent-answers.js')) as { countAnswer: (reply: object, bytes: number) => HttpError | undefined }
const { HeldBytes } = await import(inside('plugins/load/held-bytes.js')) as { HeldBytes: new (most: number) => object }

const mebibyte = 1_024 * 1_024

function replyTo (method: string, server: object): { raw: EventEmitter } {
  return { raw: new EventEmitter(), request: { principal: { name: 'agent', tenant: 'acme' }, method, raw: { socket: new EventEmitter() } }, server } as { raw: EventEmitter }
}

t.test('answers of calls that have run go beyond what an owner may leave unread, and not beyond twice of that', async t => {
  const server = { unsent: new HeldBytes(128 * mebibyte) }
  const replies = Array.from({ length: 300 }, () => replyTo('POST', server))
  const refusals = replies.map(reply => countAnswer(reply, mebibyte))
  t.same(refusals.map(refused => refused?.code), Array.from({ length: 300 }, (_, place) => place < 256 ? undefined : 'UNAVAILABLE'))
  t.match(refusals.at(-1)?.details, { may_exist: true }, 'the caller is told that its call has run')
  t.equal(countAnswer(replyTo('GET', server), mebibyte)?.code, 'RATE_LIMITED')
  t.equal(countAnswer(replyTo('POST', server), 1_000), undefined, 'small answers go in any case')
  for (const { raw } of replies) raw.emit('close')
  t.equal(countAnswer(replyTo('POST', server), 100 * mebibyte), undefined, 'what was read is not counted')
})
