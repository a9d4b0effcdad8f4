import { existsSync } from 'node:fs'
import { programPaths } from './program-path.ts'
import { runProgram } from './program-run.ts'

/** A package manager that can install programs without asking anything. */
interface PackageManager {
  program: 'apt-get' | 'dnf' | 'apk' | 'brew'
  /** Whether it must run as root, or must not. */
  asRoot: boolean
  /** Commands that bring its lists up to date. They may fail: one broken source of many is no reason to give up. */
  refresh: string[][]
  install: string[]
  env: NodeJS.ProcessEnv
}

/** In the order in which they are looked for. */
const packageManagers: readonly PackageManager[] = [
  {
    program: 'apt-get',
    asRoot: true,
    refresh: [['update']],
    install: ['install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold', '-o', 'DPkg::Lock::Timeout=60'],
    // At run level 1 no package starts its service, where services are started without systemd.
    env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  },
  { program: 'dnf', asRoot: true, refresh: [], install: ['install', '-y'], env: {} },
  { program: 'apk', asRoot: true, refresh: [], install: ['add', '--no-cache'], env: {} },
  { program: 'brew', asRoot: false, refresh: [], install: ['install'], env: { NONINTERACTIVE: '1' } }
]

interface InstallHost {
  root: boolean
  systemd: boolean
}

export interface InstallOptions {
  env: NodeJS.ProcessEnv
  /** Gets what is being installed, a line at a time. */
  say: (line: string) => void
  /** Found out when not given. */
  host?: InstallHost
}

interface WantedProgram {
  /** Such as `redis-server 6.2 or newer`. */
  name: string
  /** Names of packages, tried in order; they differ by package manager. A manager that isn't here is passed over. */
  packages: Partial<Record<PackageManager['program'], readonly string[]>>
  isThere: () => Promise<boolean>
  /** Keeps the service of a package from running: Toolyard starts its own. */
  disableServices: boolean
}

/** Why a program could not be installed; `told` are the words for it, empty when there was no way to try. */
type InstallResult = { installed: true } | { installed: false, reason: string }

const installTimeoutMs = 600_000
const shownLines = 5

/**
 * Installs a program with the machine's package manager where that needs no question: as root with apt-get, dnf or apk,
 * else with brew. `TOOLYARD_NO_INSTALL=1` keeps it from trying.
 */
export async function installProgram (wanted: WantedProgram, options: InstallOptions): Promise<InstallResult> {
  if (/^(1|true|yes|on)$/i.test(options.env['TOOLYARD_NO_INSTALL'] ?? '')) return { installed: false, reason: 'TOOLYARD_NO_INSTALL keeps Toolyard from installing one.' }
  const host = options.host ?? { root: process.getuid?.() === 0, systemd: existsSync('/run/systemd/system') }
  const manager = await findPackageManager(wanted, options.env, host.root)
  if (manager === undefined) return { installed: false, reason: '' }
  const reason = await install(manager, wanted, options, host.systemd && wanted.disableServices)
  return await wanted.isThere() ? { installed: true } : { installed: false, reason }
}

async function findPackageManager (
  wanted: WantedProgram, env: NodeJS.ProcessEnv, root: boolean
): Promise<PackageManager & { path: string } | undefined> {
  for (const manager of packageManagers.filter(({ asRoot, program }) => asRoot === root && wanted.packages[program] !== undefined)) {
    const [path] = await programPaths(manager.program, env)
    if (path !== undefined) return { ...manager, path }
  }
  return undefined
}

/** Returns what to say if it still isn't there afterwards. */
async function install (
  manager: PackageManager & { path: string }, wanted: WantedProgram, { env, say }: InstallOptions, quiet: boolean
): Promise<string> {
  const run = (args: string[]) => runProgram(manager.path, args, env, installTimeoutMs, manager.env)
  say(`No ${wanted.name} here: installing one with ${manager.program} (TOOLYARD_NO_INSTALL=1 switches this off) ...`)
  for (const args of manager.refresh) await run(args)
  const problems: string[] = []
  for (const name of wanted.packages[manager.program] ?? []) {
    const { ok, output } = await run([...manager.install, name])
    if (ok && quiet) await disableService(name, env)
    if (ok && await wanted.isThere()) return ''
    problems.push(`${manager.program} ${ok ? `installed ${name}, but there is no ${wanted.name} now.` : `could not install ${name}:\n${lastLines(output)}`}`)
  }
  return problems.join('\n')
}

/** Debian's packages enable and start a service of their own, which nobody asked for. */
async function disableService (name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [systemctl] = await programPaths('systemctl', env)
  if (systemctl !== undefined) await runProgram(systemctl, ['disable', '--now', `${name}.service`], env, installTimeoutMs)
}

function lastLines (text: string): string {
  return text.trimEnd().split('\n').slice(-shownLines).map(line => `  ${line}`).join('\n')
}
