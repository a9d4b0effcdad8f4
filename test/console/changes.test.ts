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

t.test('arguments are shown as what they are: what turns the direction of writing, or can not be seen, is escaped', async t => {
  const shown = (args: object): string[] => changesOf(args, {}).map(({ name, now }) => `${name}: ${now}`)
  t.same(shown({ 'to\u200b': '\u202e0001\u00a0' }), ['to\\u200b: "\\u202e0001\\u00a0"'])
  t.same(shown({ text: 'Größe: 5 €, 日本語, a\u{e0041}b 🙂' }), ['text: "Größe: 5 €, 日本語, a\\udb40\\udc41b 🙂"'])
})
