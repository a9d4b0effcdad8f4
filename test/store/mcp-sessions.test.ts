import { McpSessions } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const sessions = new McpSessions(redis, await connectTo(t, server, 'subscriber'))
const most = { uris: 3, bytes: 20 }
const key = async (session: string): Promise<string> => (await redis.keys(`*:mcp:${session}`))[0] ?? ''
const days = async (session: string): Promise<number> => Math.ceil(await redis.ttl(await key(session)) / 86_400)

t.test('changes of a session that come at the same moment are all kept', async t => {
  const changes = [{ watch: 'a:1', most }, { watch: 'a:2', most }, { level: 'debug' }, { watch: 'a:3', most }]
  t.strictSame(await Promise.all(changes.map(change => sessions.change('busy', change))), ['done', 'done', 'done', 'done'])
  const { watched, ...rest } = await sessions.read('busy')
  t.strictSame([watched?.sort(), rest], [['a:1', 'a:2', 'a:3'], { level: 'debug' }])
})

t.test('a session watches as many URIs and bytes of them as it may; one that it watches already is not counted again', async t => {
  for (const uri of ['a:1', 'a:2', 'a:3', 'a:1']) t.equal(await sessions.change('many', { watch: uri, most }), 'done')
  t.equal(await sessions.change('many', { watch: 'a:4', most }), 'full')
  t.equal(await sessions.change('long', { watch: 'ä'.repeat(10), most }), 'done')
  t.equal(await sessions.change('long', { watch: 'b', most }), 'full')
  t.equal(await sessions.change('long', { unwatch: 'ä'.repeat(10) }), 'done')
  t.equal(await key('long'), '', 'a session with nothing to keep has no entry')
  t.equal(await sessions.change('long', { watch: 'b', most }), 'done')
})

t.test('a session that has ended stays ended, whatever comes beside or after it', async t => {
  await sessions.change('over', { level: 'debug' })
  const changes = [{ level: 'info' }, { watch: 'a:1', most }]
  const [, ...outcomes] = await Promise.all([sessions.end('over'), ...changes.map(change => sessions.change('over', change))])
  t.strictSame(outcomes, ['ended', 'ended'])
  t.strictSame(await sessions.read('over'), { ended: true })
})

t.test('the end of a session is kept for a day, what a session holds for a week without use', async t => {
  await sessions.end('ended')
  t.equal(await days('ended'), 1)
  await sessions.change('idle', { level: 'info' })
  t.equal(await days('idle'), 7)
  await redis.expire(await key('idle'), 60)
  await redis.expire(await key('ended'), 60)
  await Promise.all([sessions.read('idle'), sessions.read('ended')])
  await redis.ping()
  t.strictSame([await days('idle'), await redis.ttl(await key('ended')) <= 60], [7, true], 'a read is a use')
})

t.test('a record of another release, a text with all of its state, is read and changed', async t => {
  const prefix = (await key('ended')).replace(/ended$/, '')
  await redis.set(`${prefix}former`, JSON.stringify({ watched: [], level: 'info' }))
  t.strictSame(await sessions.read('former'), { watched: [], level: 'info' })
  await sessions.change('former', { watch: 'a:1', most })
  t.strictSame(JSON.parse(await redis.get(`${prefix}former`) ?? ''), { watched: ['a:1'], level: 'info' })
})
