import { lstat, mkdtemp, readlink, rm, rmdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { askRedis } from './resp.ts'
import { RedisServerError } from './server-error.ts'

/** `sun_path` is no longer, without its closing zero byte, in bytes. */
const longestPath = process.platform === 'linux' ? 107 : 103
const shutdownMs = 10_000

/** Where a server of a directory listens. */
interface SocketPath {
  path: string
  /** Takes away what `reserveSocket` made. */
  remove: () => Promise<void>
}

/**
 * Decides where the server of `directory` listens: at `redis.sock` in it, or, when that path is too long for a socket,
 * in a private directory for temporary files, with `redis.sock` as a symbolic link to it.
 * A server that an earlier, killed process left there is shut down first.
 */
export async function reserveSocket (directory: string): Promise<SocketPath> {
  const usual = join(directory, 'redis.sock')
  await removeLeftover(usual)
  if (Buffer.byteLength(usual) <= longestPath) return { path: usual, remove: () => rm(usual, { force: true }) }
  const path = join(await mkdtemp(join(shortTemporaryDirectory(), 'toolyard-')), 'redis.sock')
  await symlink(path, usual).catch(async (error: unknown) => {
    await rmdir(dirname(path))
    throw error
  })
  return { path, remove: () => removeLinked(usual, path) }
}

async function removeLeftover (usual: string): Promise<void> {
  const stats = await lstat(usual).catch(() => undefined)
  if (stats === undefined) return
  const path = stats.isSymbolicLink() ? await readlink(usual) : usual
  await shutDown(path)
  if (path === usual) await rm(usual, { force: true })
  else await removeLinked(usual, path)
}

async function shutDown (path: string): Promise<void> {
  const deadline = performance.now() + shutdownMs
  while (await listens(path)) {
    if (performance.now() > deadline) throw new RedisServerError(`An older Redis server still listens at ${path} and doesn't stop. Stop it, then try again.`)
    await askRedis(path, 'SHUTDOWN').catch(() => undefined)
    await delay(50)
  }
}

async function listens (path: string): Promise<boolean> {
  return await askRedis(path, 'PING').then(() => true, (error: NodeJS.ErrnoException) => error.code === undefined)
}

async function removeLinked (link: string, path: string): Promise<void> {
  await rm(link, { force: true })
  await rm(path, { force: true })
  await rmdir(dirname(path)).catch(() => undefined)
}

function shortTemporaryDirectory (): string {
  const directory = tmpdir()
  return Buffer.byteLength(join(directory, 'toolyard-XXXXXX', 'redis.sock')) <= longestPath ? directory : '/tmp'
}
