import { installProgram, type InstallOptions } from '@toolyard/runtime/install'
import { findRedisServer, listRedisServers, oldestVersion, type RedisBinary } from './find-server.ts'
import { RedisServerError } from './server-error.ts'

/** Names differ by distribution and release. */
const packages = { 'apt-get': ['redis-server', 'valkey-server'], dnf: ['valkey', 'redis'], apk: ['valkey', 'redis'], brew: ['redis', 'valkey'] }

/**
 * Finds a Redis or Valkey server program on the PATH, or installs one with the machine's package manager
 * where that needs no question. `TOOLYARD_NO_INSTALL=1` keeps it from installing.
 *
 * @throws RedisServerError that names the ways to get one.
 */
export async function ensureRedisServer (options: InstallOptions): Promise<RedisBinary> {
  const found = await findRedisServer(options.env)
  if (found !== undefined) return found
  const reasons = (await listRedisServers(options.env)).map(({ path, version }) => `${path} is version ${version}.`)
  const result = await installProgram({
    name: `redis-server ${oldestVersion} or newer`,
    packages,
    isThere: async () => await findRedisServer(options.env) !== undefined,
    // A service of an older server is somebody's own.
    disableServices: reasons.length === 0
  }, options)
  const installed = await findRedisServer(options.env)
  if (installed !== undefined) return installed
  throw missing([...reasons, ...(result.installed || result.reason === '' ? [] : [result.reason])])
}

function missing (reasons: string[]): RedisServerError {
  return new RedisServerError([
    `Toolyard needs a Redis server: there is no redis-server or valkey-server ${oldestVersion} or newer on the PATH.`,
    ...reasons,
    'Ways to get one:',
    '  Debian, Ubuntu  sudo apt-get install redis-server',
    '  Fedora, RHEL    sudo dnf install valkey',
    '  Alpine          sudo apk add valkey',
    '  macOS           brew install redis',
    'A server that runs already is taken too: set REDIS_URL=redis://127.0.0.1:6379'
  ].join('\n'))
}
