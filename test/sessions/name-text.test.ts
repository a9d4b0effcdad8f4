import fc from 'fast-check'
import t from 'tap'
import { nameOf, nameText } from '@toolyard/workspace'

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 8 }),
  fc.constantFrom('\\', '\\x', '\\xFF', '\\x5C', '\\x5CxFF', '\\xC3\\xA9', '\\x41', '\\x2F', 'xFF', 'FF', 'ü', '😀', '\ufffd', '\ufeff').map(text => Buffer.from(text))
)
const bytes = fc.array(piece, { maxLength: 8 }).map(pieces => Buffer.concat(pieces))

t.test('each name has a text of its own, which leads back to it', async () => {
  fc.assert(fc.property(bytes, name => Buffer.from(nameOf(nameText(name))).equals(name)), { numRuns: 5_000 })
})

t.test('a name that is UTF-8 and holds no escape is its own text', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), text => text.includes('\\x') || (nameText(Buffer.from(text)) === text && nameOf(text) === text)))
})

t.test('a text that no name has stands for itself, so that no escape hides a name', async t => {
  for (const text of ['\\x2E\\x2E', '\\x2Fetc', '\\x00', '.\\x65nv', '\\xff', '\\xC3\\xA9', 'C:\\x41']) t.equal(nameOf(text), text)
})

t.test('no two texts lead to one name, where the first is what a listing shows', async () => {
  fc.assert(fc.property(bytes, bytes, (one, other) => one.equals(other) || nameText(one) !== nameText(other)))
})
