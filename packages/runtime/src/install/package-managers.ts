/** A package manager that can install programs without asking anything. */
export interface PackageManager {
  program: 'apt-get' | 'dnf' | 'apk' | 'brew'
  /** Whether it must run as root, or must not. */
  asRoot: boolean
  /** Commands that bring its lists up to date. They may fail: one broken source of many is no reason to give up. */
  refresh: string[][]
  install: string[]
  env: NodeJS.ProcessEnv
}

/** In the order in which they are looked for. */
export const packageManagers: readonly PackageManager[] = [
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
