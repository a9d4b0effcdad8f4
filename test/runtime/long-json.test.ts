import { readJsonInTurns, writeJson } from '@toolyard/contract/terms'
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'

/** More than what is looked through at once. */
const members = 40_000

t.test('a long JSON keeps the digits of a number wherever it stands, and whatever space is before it', async t => {
  const place = fc.nat(members - 1)
  const space = fc.constantFrom('', ' ', '\n'.padEnd(100), '\t'.repeat(1_000))
  const number = fc.constantFrom('725653563933458432', '-0', '1.0', '1e2')
  await fc.assert(fc.asyncProperty(place, space, number, async (at, before, written) => {
    const items = Array.from({ length: members }, (_, index) => index === at ? `${before}${written}` : 'true')
    let pauses = 0
    const read = await readJsonInTurns(`[${items.join(',')}]`, async () => {
      pauses += 1
      await turn()
    })
    const expected = items.map(item => item.trim()).join(',')
    if (writeJson(read) !== `[${expected}]`) throw new Error(`${written} was written otherwise`)
    if (pauses === 0) throw new Error('it was read in one turn')
  }), { numRuns: 40 })
})

t.test('a long JSON that loses nothing is what JSON.parse makes of it', async t => {
  const text = JSON.stringify({ text: 'x,1.0:'.repeat(60_000), list: Array.from({ length: members }, (_, at) => at) })
  t.strictSame(await readJsonInTurns(text, turn), JSON.parse(text))
})
