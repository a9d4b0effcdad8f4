import { BatchedScript, countReplicas, eachCall, Replicas, ReplicasMissingError } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const slave = (nth: number, state: string, lag: number): string => `slave${nth}:ip=127.0.0.1,port=70${nth},state=${state},offset=1,lag=${lag}\r`

t.test('only replicas that are online and keep up count', async t => {
  t.equal(countReplicas('# Replication\r\nrole:master\r\nconnected_slaves:0\r\n'), 0)
  t.equal(countReplicas(['role:master\r', 'connected_slaves:4\r', slave(0, 'online', 0), slave(1, 'online', 11), slave(2, 'wait_bgsave', 0), slave(3, 'online', 1), 'master_replid:1'].join('\n')), 2)
})

t.test('a server that hangs fails what waits for its replicas, and what comes later is done', async t => {
  const server = await startTestRedis(t)
  const replicas = new Replicas(await connectTo(t, server), 0)
  t.teardown(() => { replicas.stop() })
  const runs = [{ script: new BatchedScript('count', eachCall("return redis.call('INCR', KEYS[1])")), calls: [{ keys: ['a'], args: [] }] }]
  t.same(await replicas.run(runs), [[1]])
  process.kill(server.pid(), 'SIGSTOP')
  t.teardown(() => { process.kill(server.pid(), 'SIGCONT') })
  await t.rejects(replicas.run(runs), ReplicasMissingError)
  process.kill(server.pid(), 'SIGCONT')
  t.match(await replicas.run(runs), [[Number]])
})
