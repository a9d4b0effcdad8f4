import { programPaths, runProgram } from '@toolyard/runtime/install'

export interface RedisBinary {
  /** Absolute path. */
  path: string
  /** Such as `7.0.15`; `unknown` when the program doesn't tell. */
  version: string
}

/** The oldest version that BullMQ runs on without warnings. */
export const oldestVersion = '6.2'

const names = ['redis-server', 'valkey-server']
const versionTimeoutMs = 5_000

/** The first `redis-server`, else `valkey-server`, on the PATH of `env` that is 6.2 or newer; undefined when there is none. */
export async function findRedisServer (env: NodeJS.ProcessEnv): Promise<RedisBinary | undefined> {
  return (await listRedisServers(env)).find(({ version }) => isRecent(version))
}

/** Every Redis or Valkey server program on the PATH of `env`, too old ones included. */
export async function listRedisServers (env: NodeJS.ProcessEnv): Promise<RedisBinary[]> {
  const paths = await Promise.all(names.map(name => programPaths(name, env)))
  return await Promise.all(paths.flat().map(async path => ({ path, version: await readVersion(path, env) })))
}

/** The programs say `Redis server v=7.0.15 sha=...` and `Valkey server v=8.1.1 sha=...`. */
async function readVersion (path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { ok, output } = await runProgram(path, ['--version'], env, versionTimeoutMs)
  return (ok ? /\bv=(\d+\.\d+(?:\.\d+)?)/.exec(output)?.[1] : undefined) ?? 'unknown'
}

/** Whether this version is 6.2 or newer; one that is unknown isn't. */
export function isRecent (version: string): boolean {
  const [major = NaN, minor = NaN] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestVersion.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}
