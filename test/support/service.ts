import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { createClient, type Client } from './client.ts'
import { startApp, type AppProcess } from './processes.ts'
import { startTestRedis, type TestRedis } from './redis.ts'
import { writeFiles } from './files.ts'

/** Keys of a service under test: an admin, a reader, and an admin who may use the queue `allowed` alone. */
export const testKeys = {
  admin: 'test-admin-key-0123456789',
  read: 'test-read-key-0123456789',
  limited: 'test-limited-key-0123456789'
} as const

/** What a key is, beside its text: one without a role is an admin's. */
interface TestKey {
  /** That of its entry when absent. */
  name?: string
  role?: 'admin' | 'approver' | 'read'
  tenant?: string
  queue_allowlist?: string[]
  permissions?: string[]
  namespaces?: string[]
  hosts?: string[]
  sse?: boolean
}

/** Keys by their names, and the setting that has them, with that of an admin. */
export function makeKeys<Name extends string> (entries: Readonly<Record<Name, TestKey>>): { keys: Readonly<Record<Name | 'admin', string>>, API_KEYS_JSON: string } {
  const all = Object.entries<TestKey>({ admin: {}, ...entries })
    .map(([name, key]) => [name, { name: name === 'read' ? 'reader' : name, key: `test-${name}-key-0123456789`, role: name === 'read' ? 'read' : 'admin', ...key }] as const)
  const keys = Object.fromEntries(all.map(([name, { key }]) => [name, key])) as Record<Name | 'admin', string>
  return { keys, API_KEYS_JSON: JSON.stringify(all.map(([, key]) => key)) }
}

const { API_KEYS_JSON } = makeKeys({ read: {}, limited: { queue_allowlist: ['allowed'] } })

/** A manifest of Python tools, as its file has it. */
export function bundleOf (...tools: object[]): string {
  return JSON.stringify({ schema_version: '1.0', metadata: { name: 'test', description: 'A bundle of a test' }, tools })
}

export interface ServiceOptions {
  /** Entries of an agentcli manifest. */
  tools?: object[]
  /** Files by path below the service's directory: `tools/bin/...` become programs, `workspace/...` the workspace. */
  files?: Record<string, string>
  env?: Record<string, string>
  /** Paths for `TOOL_MANIFESTS`, from the service's directory; without them its `tools.json` alone. */
  manifests?: string[]
  /** Whether Redis keeps its data when it is stopped. */
  aof?: boolean
  /** How many worker processes; 1 when absent. */
  workers?: number
}

/** Redis, an API and workers, each a process of its own. */
export interface Service extends Processes {
  redis: TestRedis
}

/** An API and workers, each a process of its own. */
export interface Processes {
  dir: string
  api: AppProcess
  workers: AppProcess[]
  client: Client
  env: NodeJS.ProcessEnv
  startWorker: (env?: Record<string, string>) => Promise<AppProcess>
  startApi: (env?: Record<string, string>) => Promise<AppProcess>
}

/** A directory that processes of a service run in, and their environment. */
export interface Layout {
  dir: string
  env: NodeJS.ProcessEnv
}

/** Starts a service with a Redis of its own; the test's end stops and removes all of it. */
export async function createService (t: Cleanup, options: ServiceOptions = {}): Promise<Service> {
  const redis = await startTestRedis(t, { aof: options.aof ?? false })
  return { redis, ...await startProcesses(t, { REDIS_URL: redis.url }, options) }
}

/**
 * Starts an API and workers; the test's end stops and removes them.
 *
 * @param redisEnv the settings that tell where Redis is.
 */
export async function startProcesses (t: Cleanup, redisEnv: Record<string, string>, options: ServiceOptions = {}): Promise<Processes> {
  const { dir, env } = await layOut(t, redisEnv, options)
  const started: AppProcess[] = []
  t.teardown(async () => { await Promise.all(started.map(app => app.stop())) })
  const start = async (name: 'api' | 'worker', extra: Record<string, string> = {}): Promise<AppProcess> => {
    const app = await startApp(name, dir, { ...env, ...extra })
    started.push(app)
    return app
  }
  const [api, ...workers] = await Promise.all([start('api'), ...Array.from({ length: options.workers ?? 1 }, () => start('worker'))])
  return {
    dir,
    api,
    workers,
    client: createClient(api.address, testKeys.admin),
    env,
    startWorker: extra => start('worker', extra),
    startApi: extra => start('api', extra)
  }
}

/** Writes the files of a service, and says what is in the environment of its processes. */
export async function layOut (t: Cleanup, redisEnv: Record<string, string>, options: ServiceOptions): Promise<Layout> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-test-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  writeFiles(dir, { 'workspace/README.md': '# A workspace\n', ...options.files })
  for (const path of Object.keys(options.files ?? {})) if (path.startsWith('tools/bin/')) await chmod(join(dir, path), 0o755)
  await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: options.tools ?? [] }))
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: dir,
    PORT: '0',
    ...redisEnv,
    API_KEYS_JSON,
    WORKSPACE_DIR: join(dir, 'workspace'),
    TOOL_MANIFESTS: (options.manifests ?? ['tools.json']).map(path => join(dir, path)).join(','),
    AUDIT_DIR: join(dir, 'audit'),
    SHUTDOWN_GRACE_SEC: '5',
    // Machines that test are busy; what is late there is not too busy to serve.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    SHUTDOWN_DELAY_SEC: '0',
    // Tools of tests leave marks in the workspace.
    TOOL_DEFAULT_PERMISSIONS: 'read_repo,write_files',
    ...options.env
  }
  return { dir, env }
}
