import { changesOf } from '@toolyard/console'
import t from 'tap'

t.test('arguments are shown beside those of the earlier call, what changed first', async t => {
  t.same(changesOf({ a: 1, b: 'x', c: [1] }, { a: 2, c: [1], d: true }), [
    { name: 'a', now: '1', before: '2', isChanged: true },
    { name: 'b', now: '"x"', before: '', isChanged: true },
    { name: 'd', now: '', before: 'true', isChanged: true },
    { name: 'c', now: '[1]', before: '[1]', isChanged: false }
  ])
})
