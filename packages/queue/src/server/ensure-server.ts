import { existsSync } from 'node:fs'
import { findRedisServer, listRedisServers, oldestVersion, type RedisBinary } from './find-server.ts'
import { packageManagers, type PackageManager } from './package-managers.ts'
import { programPaths } from './program-path.ts'
import { runProgram } from './program-run.ts'
import { RedisServerError } from './server-error.ts'

export interface EnsureOptions {
  env: NodeJS.ProcessEnv
  /** Told what is being installed, a line at a time. */
  say: (line: string) => void
  /** What is true of this machine; found out when not given. */
  host?: { root: boolean, systemd: boolean }
}

const installTimeoutMs = 600_000
const shownLines = 5

/**
 * Finds a Redis or Valkey server program on the PATH, or installs one with the machine's package manager
 * where that needs no question. `TOOLYARD_NO_INSTALL=1` keeps it from installing.
 *
 * @throws RedisServerError that names the ways to get one.
 */
export async function ensureRedisServer (options: EnsureOptions): Promise<RedisBinary> {
  const found = await findRedisServer(options.env)
  if (found !== undefined) return found
  const reasons = (await listRedisServers(options.env)).map(({ path, version }) => `${path} is version ${version}.`)
  if (/^(1|true|yes|on)$/i.test(options.env['TOOLYARD_NO_INSTALL'] ?? '')) {
    throw missing([...reasons, 'TOOLYARD_NO_INSTALL keeps Toolyard from installing one.'])
  }
  const host = options.host ?? { root: process.getuid?.() === 0, systemd: existsSync('/run/systemd/system') }
  const manager = await findPackageManager(options.env, host.root)
  if (manager === undefined) throw missing(reasons)
  const problem = await install(manager, options, host.systemd && reasons.length === 0)
  const installed = await findRedisServer(options.env)
  if (installed === undefined) throw missing([...reasons, problem])
  return installed
}

async function findPackageManager (env: NodeJS.ProcessEnv, root: boolean): Promise<PackageManager & { path: string } | undefined> {
  for (const manager of packageManagers.filter(({ asRoot }) => asRoot === root)) {
    const [path] = await programPaths(manager.program, env)
    if (path !== undefined) return { ...manager, path }
  }
  return undefined
}

/** Returns what to say if there is still no server afterwards. */
async function install (manager: PackageManager & { path: string }, { env, say }: EnsureOptions, quiet: boolean): Promise<string> {
  const run = (args: string[]) => runProgram(manager.path, args, { ...env, ...manager.env }, installTimeoutMs)
  say(`No redis-server ${oldestVersion} or newer here: installing one with ${manager.program} (TOOLYARD_NO_INSTALL=1 switches this off) ...`)
  for (const args of manager.refresh) await run(args)
  const problems: string[] = []
  for (const name of manager.packages) {
    const { ok, output } = await run([...manager.install, name])
    if (ok && quiet) await disableService(name, env)
    if (ok && await findRedisServer(env) !== undefined) return ''
    problems.push(`${manager.program} ${ok ? `installed ${name}, but it isn't ${oldestVersion} or newer.` : `could not install ${name}:\n${lastLines(output)}`}`)
  }
  return problems.join('\n')
}

/** Debian's packages enable and start a service of their own, which nobody asked for; Toolyard starts its own server. */
async function disableService (name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [systemctl] = await programPaths('systemctl', env)
  if (systemctl !== undefined) await runProgram(systemctl, ['disable', '--now', `${name}.service`], env, installTimeoutMs)
}

function lastLines (text: string): string {
  return text.trimEnd().split('\n').slice(-shownLines).map(line => `  ${line}`).join('\n')
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
    'npm start also takes a server that runs already: REDIS_URL=redis://127.0.0.1:6379 npm start'
  ].join('\n'))
}
