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
