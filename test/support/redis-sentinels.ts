import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { waitFor } from './condition.ts'
import { startRedisProcess, type RedisProcess } from './redis-process.ts'

/** A master with a replica, and three Sentinels that watch them, on loopback. */
export interface RedisSentinels {
  master: RedisProcess
  replica: RedisProcess
  sentinels: RedisProcess[]
  env: Record<string, string>
}

const name = 'toolyard'

/**
 * Starts them and waits until the Sentinels know all; the test's end stops them.
 *
 * @param config directives of both redis.conf
 * @param ofMaster directives of the first master's alone
 */
export async function startRedisSentinels (
  t: Cleanup, config: Record<string, string> = {}, ofMaster: Record<string, string> = {}
): Promise<RedisSentinels> {
  const master = await startRedisProcess(t, { config: { ...config, ...ofMaster } })
  const replica = await startRedisProcess(t, { config: { ...config, replicaof: `127.0.0.1 ${master.port}` } })
  await waitFor('the replica is in step', async () => /master_link_status:up/.test(await replica.client.info('replication')))
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startSentinel(t, master.port)))
  await Promise.all(sentinels.map(({ client }) => waitFor('the Sentinels know each other and the replica', async () => {
    const fields = await client.call('SENTINEL', 'MASTER', name) as string[]
    const field = (key: string): string | undefined => fields[fields.indexOf(key) + 1]
    return field('num-other-sentinels') === '2' && field('num-slaves') === '1'
  })))
  return {
    master,
    replica,
    sentinels,
    env: { REDIS_SENTINELS: sentinels.map(({ port }) => `127.0.0.1:${port}`).join(','), REDIS_MASTER_NAME: name }
  }
}

async function startSentinel (t: Cleanup, masterPort: number): Promise<RedisProcess> {
  return await startRedisProcess(t, {
    client: { enableReadyCheck: false },
    args: async (port, dir) => {
      const file = join(dir, 'sentinel.conf')
      await writeFile(file, [
        `port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, `logfile ${join(dir, 'redis.log')}`,
        `sentinel monitor ${name} 127.0.0.1 ${masterPort} 2`,
        `sentinel down-after-milliseconds ${name} 1000`,
        `sentinel failover-timeout ${name} 5000`,
        ''
      ].join('\n'))
      return [file, '--sentinel']
    }
  })
}
