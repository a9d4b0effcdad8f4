import { madeOnce } from '@toolyard/runtime'
import t from 'tap'

t.test('what could not be made is made when it is asked for again, and then kept', async t => {
  let tries = 0
  const made = madeOnce(async () => {
    tries += 1
    if (tries === 1) throw new Error('no descriptors left')
    return await Promise.resolve({ tries })
  })
  await t.rejects(Promise.all([made(), made()]), { message: 'no descriptors left' })
  t.equal(tries, 1, 'those that ask at once share a try')
  t.equal(await made(), await made())
  t.equal(tries, 2)
})
