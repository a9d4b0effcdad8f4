import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { onAbort } from '@toolyard/runtime'
import { collectGarbage } from '../support/garbage.ts'

t.test('a listener is taken off a signal, also when memory was collected meanwhile', async t => {
  const { signal } = new AbortController()
  const offs = Array.from({ length: 5 }, () => onAbort(signal, () => {}))
  // An object of a turn is kept until its end.
  await nextTurn()
  collectGarbage()
  for (const off of offs) off()
  t.same(getEventListeners(signal, 'abort'), [])
})

t.test('of two signals that abort, the first one is heard, once', async t => {
  const [one, other] = [new AbortController(), new AbortController()]
  const heard: unknown[] = []
  onAbort([one.signal, undefined, other.signal], ({ reason }) => { heard.push(reason) })
  other.abort('other')
  one.abort('one')
  t.same(heard, ['other'])
  t.same(getEventListeners(one.signal, 'abort'), [])
})

t.test('a signal that has aborted is heard at once, and no other one is listened to', async t => {
  const [one, aborted] = [new AbortController(), AbortSignal.abort('before')]
  const heard: unknown[] = []
  onAbort([one.signal, aborted, AbortSignal.abort('too')], ({ reason }) => { heard.push(reason) })
  t.same(heard, ['before'])
  t.same(getEventListeners(one.signal, 'abort'), [])
})
