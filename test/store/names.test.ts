import { internalName, publicName } from '@toolyard/store'
import t from 'tap'

t.test('X3 a public queue name maps to one that BullMQ accepts, and back', async t => {
  for (const name of ['default', 'a:b.c_d-e', ':', 'meta', '0', 'x'.repeat(80)]) {
    t.notMatch(internalName(name), /:/)
    t.equal(publicName(internalName(name)), name)
  }
})

t.test('X3 no two public names share an internal one', async t => {
  const names = ['a:b', 'a.b', 'a_b', 'a-b', 'ab', 'a::b']
  t.equal(new Set(names.map(internalName)).size, names.length)
})
