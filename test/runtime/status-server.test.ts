import { serveStatus } from '@toolyard/runtime'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
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

t.test('scrapes that come at once get the same text: made for each, 2,000 of one connection took the loop for 0.7 s, and 300 MB', async t => {
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
  const get = (path: string, connection: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: ${connection}\r\n\r\n`
  const socket = connect(port, '127.0.0.1')
  // The last request is taken after all scrapes.
  socket.write(get('/metrics', 'keep-alive').repeat(50) + get('/ready', 'close'))
  t.equal((await text(socket)).split('made 1\n').length - 1, 50)
  t.match(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), 'made 2', 'the next one is made anew')
})
