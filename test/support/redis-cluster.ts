import type { Cleanup } from './cleanup.ts'
import { waitFor } from './condition.ts'
import { startRedisProcess, type RedisProcess } from './redis-process.ts'

/** A Redis Cluster of three masters, each with a replica, on loopback. */
interface RedisCluster {
  masters: RedisProcess[]
  replicas: RedisProcess[]
  env: Record<string, string>
  /** The server that holds a key now. */
  masterOf: (key: string) => Promise<RedisProcess>
}

const slots = 16_384
/** A master that is silent for so long is replaced, in milliseconds. */
const nodeTimeoutMs = 1_000

/** Starts a cluster and waits until all of it is joined; the test's end stops it. */
export async function startRedisCluster (t: Cleanup): Promise<RedisCluster> {
  const config = { 'cluster-enabled': 'yes', 'cluster-node-timeout': String(nodeTimeoutMs), 'cluster-config-file': 'nodes.conf', 'cluster-replica-validity-factor': '0' }
  const nodes = await Promise.all(Array.from({ length: 6 }, () => startRedisProcess(t, { config, client: { enableReadyCheck: false } })))
  const masters = nodes.slice(0, 3)
  const replicas = nodes.slice(3)
  const [first] = nodes
  if (first === undefined) throw new Error('no node')
  for (const [index, { client }] of nodes.entries()) await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
  for (const { port } of nodes.slice(1)) await first.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port))
  for (const [index, { client }] of masters.entries()) {
    const from = Math.floor(slots * index / 3)
    const to = Math.floor(slots * (index + 1) / 3)
    await client.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: to - from }, (_, slot) => String(from + slot)))
  }
  await Promise.all(nodes.map(({ client }) => waitFor('the nodes know each other', async () => (await clusterInfo(client)).cluster_known_nodes === '6')))
  for (const [index, { client }] of replicas.entries()) {
    const id = await masters[index]?.client.call('CLUSTER', 'MYID') as string
    await waitFor('a replica has its master', async () => await client.call('CLUSTER', 'REPLICATE', id).then(() => true, () => false))
  }
  await Promise.all(nodes.map(({ client }) => waitFor('the cluster stands', async () => (await clusterInfo(client)).cluster_state === 'ok')))
  await Promise.all(replicas.map(({ client }) => waitFor('a replica is in step', async () => /master_link_status:up/.test(await client.info('replication')))))
  return {
    masters,
    replicas,
    env: { REDIS_CLUSTER_NODES: nodes.slice(0, 3).map(({ port }) => `127.0.0.1:${port}`).join(',') },
    masterOf: key => masterOf(nodes, key)
  }
}

async function clusterInfo (client: RedisProcess['client']): Promise<Record<string, string>> {
  const text = await client.call('CLUSTER', 'INFO') as string
  return Object.fromEntries(text.trim().split('\r\n').map(line => line.split(':') as [string, string]))
}

async function masterOf (nodes: readonly RedisProcess[], key: string): Promise<RedisProcess> {
  const asked = nodes.find(node => node.isRunning())
  const slot = Number(await asked?.client.call('CLUSTER', 'KEYSLOT', key))
  const ranges = await asked?.client.call('CLUSTER', 'SLOTS') as Array<[number, number, [string, number]]>
  const port = ranges.find(([from, to]) => slot >= from && slot <= to)?.[2][1]
  const master = nodes.find(node => node.port === port)
  if (master === undefined) throw new Error(`no master for ${key}`)
  return master
}
