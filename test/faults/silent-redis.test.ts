import { connectRedis, isConnected } from '@toolyard/store'
import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { startTestRedis } from '../support/redis.ts'
import { listening } from '../support/listening.ts'

// They wait, and each has a Redis of its own.
t.jobs = 3

for (const role of ['request', 'worker', 'subscriber'] as const) {
  t.test(`a ${role} connection that is accepted and never answered is left, each time`, { buffered: true }, async t => {
    const server = await startTestRedis(t)
    const sockets: Socket[] = []
    const proxy = createServer(socket => {
      socket.on('error', () => {})
      // The first two servers hang.
      if (sockets.push(socket) > 2) socket.pipe(connect(server.socket)).pipe(socket)
    })
    const port = await listening(t, proxy)
    const redis = connectRedis({ place: { kind: 'server', url: `redis://127.0.0.1:${port}` } }, role, () => {})
    t.teardown(() => {
      redis.disconnect()
      for (const socket of sockets) socket.destroy()
    })
    t.equal(await isConnected(redis, 40_000), true)
    t.equal(sockets.length, 3)
  })
}
