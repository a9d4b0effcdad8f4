import { onceAMinute } from '@toolyard/runtime'
import t from 'tap'

void t.test('what is wrong is told once, and again where it is another thing or at another place', async t => {
  const told: string[] = []
  const tell = onceAMinute((error, place) => { told.push(`${place}: ${String(error)}`) })
  for (const place of ['a', 'a', 'b']) for (const text of ['refused', 'refused', 'full']) tell(new Error(text), place)
  t.strictSame(told, ['a: Error: refused', 'a: Error: full', 'b: Error: refused', 'b: Error: full'])
})
