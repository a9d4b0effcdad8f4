import { maxStreamTickets, StreamTickets } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

t.test('a key has a bounded number of stream tickets: the newest are good, and those of other keys stay', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const tickets = new StreamTickets(redis)
  const save = async (keyName: string, token: string): Promise<void> => { await tickets.save(token, { keyName, keyProof: 'p', jobId: null }, 600) }
  await save('quiet', 'own')
  const beyond = 200
  for (let at = 0; at < maxStreamTickets + beyond; at += 100) {
    await Promise.all(Array.from({ length: 100 }, async (_, place) => { await save('loud', `t${at + place}`) }))
  }
  // Those, the list of each key's, and the other one's.
  t.equal(await redis.dbsize(), maxStreamTickets + 3)
  t.equal(await tickets.find('t0'), undefined)
  t.match(await tickets.find(`t${maxStreamTickets + beyond - 1}`), { keyName: 'loud' })
  t.match(await tickets.find('own'), { keyName: 'quiet' })
})
