import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callbackEnv, startReceiver, type Receiver } from '../callbacks/receiver.ts'
import type { Cleanup } from '../support/cleanup.ts'
import type { AppProcess } from '../support/processes.ts'
import { startNetworkProxy, type NetworkProxy } from '../support/network-proxy.ts'
import { startRedisSentinels, type RedisSentinels } from '../support/redis-sentinels.ts'
import { startProcesses, type Processes } from '../support/service.ts'
import { openClocks, type Clocks } from './clocks.ts'
import type { History } from './history.ts'
import { soakFiles, soakManifests, soakTools } from './tools.ts'

/** One API or worker of the soak. A fault holds it while it is being stopped or replaced. */
export interface Member {
  name: string
  kind: 'api' | 'worker'
  process: AppProcess
  /** Between it and Redis, for it alone. */
  network: NetworkProxy
  held: boolean
}

export interface World {
  redis: RedisSentinels
  service: Processes
  receiver: Receiver
  members: Member[]
  /** Where each process keeps its temporary files. */
  temporary: string
  /** Undefined where the machine can't set clocks apart. */
  clocks: Clocks | undefined
  /** A small file system of the first Redis, which can be filled; undefined where none can be mounted. */
  smallDisk: string | undefined
  /** A small file system of the last worker's temporary files; undefined where none can be mounted. */
  smallTemporary: string | undefined
  history: History
  /** Starts a member anew in the place of one that has ended. */
  replace: (member: Member) => Promise<void>
}

export const soakKeys = ['one', 'two', 'three'].map(name => ({ name, key: `soak-key-${name}-0123456789`, role: 'admin' }))

/** Seconds by which the clocks of the members are ahead at first. */
const offsets = { 'api-0': 4, 'api-1': -600, 'worker-0': -4, 'worker-1': 0, 'worker-2': 600 } as const

/** Whose temporary files are on a small disk. */
export const smallWorker = 'worker-2'

/** As docs/redis.md has it: a master that was cut off takes no jobs, which its successor would not know of. */
const guarded = { 'min-replicas-to-write': '1', 'min-replicas-max-lag': '10' }

/** Starts Redis with a replica and Sentinels, two APIs, three workers and a receiver of callbacks. */
export async function openWorld (t: Cleanup, history: History, say: (line: string) => void): Promise<World> {
  const temporary = mkdtempSync(join(tmpdir(), 'toolyard-soak-'))
  t.teardown(() => { rmSync(temporary, { recursive: true, force: true }) })
  const smallDisk = mountSmallDisk(t, join(temporary, 'small-disk'), 500)
  const smallTemporary = mountSmallDisk(t, join(temporary, 'small-files'), 64)
  if (typeof smallDisk !== 'string') say(`no disk is filled: ${smallDisk.missing}`)
  const clocksOrReason = await openClocks(temporary)
  if (typeof clocksOrReason === 'string') say(`no clock is shifted: ${clocksOrReason}`)
  const clocks = typeof clocksOrReason === 'string' ? undefined : clocksOrReason
  const redis = await startRedisSentinels(t, guarded, typeof smallDisk === 'string' ? { dir: smallDisk } : {})
  const receiver = await startReceiver(t)
  mkdirSync(join(temporary, 'files'))
  const service = await startProcesses(t, redis.env, {
    files: soakFiles,
    tools: soakTools,
    manifests: soakManifests,
    workers: 0,
    env: {
      ...callbackEnv,
      CALLBACK_ATTEMPTS: '20',
      API_KEYS_JSON: JSON.stringify(soakKeys),
      TMPDIR: join(temporary, 'files'),
      JOB_RETENTION_COUNT: '1000000',
      LOG_LEVEL: 'warn',
      REDIS_WAIT_REPLICAS: '1',
      NODE_OPTIONS: '--trace-warnings'
    }
  })
  await service.api.stop()
  const start = async ({ name, kind, network }: Pick<Member, 'name' | 'kind' | 'network'>): Promise<AppProcess> => {
    const env = {
      ...clocks?.envFor(name, offsets[name as keyof typeof offsets]),
      REDIS_SENTINELS: network.ports.slice(0, redis.sentinels.length).map(port => `127.0.0.1:${port}`).join(','),
      ...(name === smallWorker && typeof smallTemporary === 'string' ? { TMPDIR: smallTemporary } : {})
    }
    return kind === 'api' ? await service.startApi(env) : await service.startWorker(env)
  }
  const members = await Promise.all(Object.keys(offsets).map(async (name): Promise<Member> => {
    const kind = name.startsWith('api') ? 'api' : 'worker'
    const network = await startNetworkProxy(t, [
      ...redis.sentinels.map(({ port }) => ({ to: { port }, tellsPorts: true })),
      ...[redis.master, redis.replica].map(({ port }) => ({ to: { port } }))
    ])
    return { name, kind, network, process: await start({ name, kind, network }), held: false }
  }))
  return {
    redis,
    service,
    receiver,
    members,
    temporary,
    clocks,
    smallDisk: typeof smallDisk === 'string' ? smallDisk : undefined,
    smallTemporary: typeof smallTemporary === 'string' ? smallTemporary : undefined,
    history,
    replace: async member => { member.process = await start(member) }
  }
}

/** A tmpfs of so many MiB, which only root can mount. */
function mountSmallDisk (t: Cleanup, dir: string, mib: number): string | { missing: string } {
  if (process.getuid?.() !== 0) return { missing: 'only root can mount a small one' }
  mkdirSync(dir)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'toolyard-soak', dir], { stdio: 'pipe' })
  } catch (error) {
    return { missing: String(error) }
  }
  t.teardown(() => { execFileSync('umount', ['-l', dir]) })
  return dir
}
