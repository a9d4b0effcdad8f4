import { serveStatus } from '@toolyard/runtime'
import t from 'tap'

t.test('a port of its own answers HEAD as GET, without the body', async t => {
  const { port, close } = await serveStatus({
    metrics: async () => 'one 1\n', contentType: 'text/plain', readiness: async () => ({ ok: false, checks: {} })
  }, '127.0.0.1', 0)
  t.teardown(close)
  for (const [path, status] of [['/metrics', 200], ['/health', 200], ['/ready', 503], ['/other', 404]] as const) {
    const get = await fetch(`http://127.0.0.1:${port}${path}`)
    const head = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'HEAD' })
    t.same([head.status, head.headers.get('content-type')], [status, get.headers.get('content-type')], path)
    t.equal(get.status, status)
    t.equal(await head.text(), '')
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/health`, { method: 'POST' })).status, 404)
})

t.test('scrapes that come at once get the same text: made for each, 2,000 took the loop for 0.7 s, and 300 MB', async t => {
  let made = 0
  let ask = (): void => {}
  const asked = new Promise<void>(resolve => { ask = resolve })
  const { port, close } = await serveStatus({
    metrics: async () => {
      made += 1
      await asked
      return `made ${made}\n`
    },
    contentType: 'text/plain',
    readiness: async () => {
      ask()
      return { ok: true, checks: {} }
    }
  }, '127.0.0.1', 0)
  t.teardown(close)
  const get = async (path: string): Promise<string> => await (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  const scrapes = Array.from({ length: 50 }, async () => await get('/metrics'))
  // Each has a connection of its own, which was begun before these.
  for (let count = 0; count < 20; count++) await get('/health')
  await get('/ready')
  t.same(await Promise.all(scrapes), Array.from({ length: 50 }, () => 'made 1\n'))
  t.match(await get('/metrics'), 'made 2', 'the next one is made anew')
})
