import { changesOf } from '@toolyard/console'
import t from 'tap'
import { readJson } from '@toolyard/contract/terms'

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
  t.same(shown({ a: 'bob\u2800\u2800' }), ['a: "bob\\u2800\\u2800"'])
  t.same(shown({ 'to\u200b': '\u202e0001\u00a0' }), ['to\\u200b: "\\u202e0001\\u00a0"'])
  t.same(shown({ text: 'Größe: 5 €, 日本語, a\u{e0041}b 🙂' }), ['text: "Größe: 5 €, 日本語, a\\udb40\\udc41b 🙂"'])
})

t.test('numbers are shown and compared with the digits that were written', async t => {
  const [now, before] = [readJson('{"to":1152921504606846977,"rate":1.0}'), readJson('{"to":1152921504606846976,"rate":1.0}')]
  t.same(changesOf(now, before), [
    { name: 'to', now: '1152921504606846977', before: '1152921504606846976', isChanged: true },
    { name: 'rate', now: '1.0', before: '1.0', isChanged: false }
  ])
})

t.test('no argument takes the place of another one whose name looks the same', async t => {
  const both = changesOf({ 'to\u200b': 1, 'to\\u200b': 2 }, {})
  t.same(both.map(({ name, now }) => `${name}: ${now}`), ['to\\u200b: 1', 'to\\\\u200b: 2'])
})
