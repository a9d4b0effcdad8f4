import { McpSessions, type McpSessionChange } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)
const sessions = new McpSessions(redis, await connectTo(t, server, 'subscriber'))
const most = { uris: 3, bytes: 20 }
const owner = 'acme key'
const key = async (session: string): Promise<string> => (await redis.keys(`*:mcp:${session}`))[0] ?? ''
const days = async (session: string): Promise<number> => Math.ceil(await redis.ttl(await key(session)) / 86_400)

t.test('changes of a session that come at the same moment are all kept', async t => {
  const changes: McpSessionChange[] = [{ kind: 'watch', uri: 'a:1', most }, { kind: 'watch', uri: 'a:2', most }, { kind: 'level', level: 'debug' }, { kind: 'watch', uri: 'a:3', most }]
  t.strictSame(await Promise.all(changes.map(change => sessions.change('busy', change, owner))), ['done', 'done', 'done', 'done'])
  const { watched, ...rest } = await sessions.read('busy', owner)
  t.strictSame([watched?.sort(), rest], [['a:1', 'a:2', 'a:3'], { level: 'debug' }])
})

t.test('a session watches as many URIs and bytes of them as it may; one that it watches already is not counted again', async t => {
  for (const uri of ['a:1', 'a:2', 'a:3', 'a:1']) t.equal(await sessions.change('many', { kind: 'watch', uri, most }, owner), 'done')
  t.equal(await sessions.change('many', { kind: 'watch', uri: 'a:4', most }, owner), 'full')
  t.equal(await sessions.change('long', { kind: 'watch', uri: 'ä'.repeat(10), most }, owner), 'done')
  t.equal(await sessions.change('long', { kind: 'watch', uri: 'b', most }, owner), 'full')
  t.equal(await sessions.change('long', { kind: 'unwatch', uri: 'ä'.repeat(10) }, owner), 'done')
  t.equal(await key('long'), '', 'a session with nothing to keep has no entry')
  t.equal(await sessions.change('long', { kind: 'watch', uri: 'b', most }, owner), 'done')
})

t.test('a session that has ended stays ended, whatever comes beside or after it', async t => {
  await sessions.change('over', { kind: 'level', level: 'debug' }, owner)
  const changes: McpSessionChange[] = [{ kind: 'level', level: 'info' }, { kind: 'watch', uri: 'a:1', most }]
  const [, ...outcomes] = await Promise.all([sessions.end('over', owner), ...changes.map(change => sessions.change('over', change, owner))])
  t.strictSame(outcomes, ['ended', 'ended'])
  t.strictSame(await sessions.read('over', owner), { ended: true })
})

t.test('the end of a session is kept for a day, what a session holds for a week without use', async t => {
  await sessions.end('ended', owner)
  t.equal(await days('ended'), 1)
  await sessions.change('idle', { kind: 'level', level: 'info' }, owner)
  t.equal(await days('idle'), 7)
  await redis.expire(await key('idle'), 60)
  await redis.expire(await key('ended'), 60)
  await Promise.all([sessions.read('idle', owner), sessions.read('ended', owner)])
  await redis.ping()
  t.strictSame([await days('idle'), await redis.ttl(await key('ended')) <= 60], [7, true], 'a read is a use')
})

t.test('something is kept of a thousand sessions of a key: the one that was used least recently leaves, those of other keys stay', async t => {
  await sessions.change('of-another', { kind: 'level', level: 'info' }, 'other key')
  const mine = Array.from({ length: 1_000 }, (_, at) => `mine-${String(at).padStart(4, '0')}`)
  const busy = 'busy key'
  for (const session of mine) await sessions.change(session, { kind: 'level', level: 'info' }, busy)
  t.strictSame(await sessions.read('mine-0000', busy), { level: 'info' })
  await redis.ping()
  // Those of one second are as old as each other; a read makes one younger than the rest.
  const [list = ''] = (await Promise.all((await redis.keys('*:mcp-sessions:*')).map(async key => [key, await redis.zcard(key)] as const))).find(([, count]) => count === 1_000) ?? []
  await redis.zincrby(list, -100, 'mine-0001')
  await sessions.change('one-more', { kind: 'level', level: 'info' }, busy)
  t.strictSame(await sessions.read('mine-0001', busy), {}, 'it is forgotten')
  t.strictSame(await sessions.read('mine-0000', busy), { level: 'info' })
  t.strictSame(await sessions.read('one-more', busy), { level: 'info' })
  t.strictSame(await sessions.read('of-another', 'other key'), { level: 'info' })
  t.equal(await redis.zcard(list), 1_000)
  await sessions.end('ended-at-once', busy)
  t.strictSame(await sessions.read('ended-at-once', busy), { ended: true }, 'what is new stays, also where it would be forgotten first')
})
