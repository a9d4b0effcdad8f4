import { installProgram, type InstallOptions } from './install-program.ts'
import { programPaths } from './program-path.ts'

/** As for Redis. */
const ways = [
  'Ways to get it:',
  '  Debian, Ubuntu  sudo apt-get install bubblewrap',
  '  Fedora, RHEL    sudo dnf install bubblewrap',
  '  Alpine          sudo apk add bubblewrap'
]

/**
 * Sees to bubblewrap, of which the sandbox is made: takes it from the PATH, or installs it where that needs no question.
 * Never fails: without it, `SANDBOX` decides what happens.
 *
 * @returns whether it is there
 */
export async function ensureBubblewrap (options: InstallOptions): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const isThere = async (): Promise<boolean> => (await programPaths('bwrap', options.env)).length > 0
  if (await isThere()) return true
  const packages = { 'apt-get': ['bubblewrap'], dnf: ['bubblewrap'], apk: ['bubblewrap'] }
  const result = await installProgram({ name: 'bubblewrap', packages, isThere, disableServices: false }, options)
  if (!result.installed) options.say([['There is no bubblewrap, so tools will run without a sandbox.', result.reason].join(' ').trim(), ...ways].join('\n'))
  return result.installed
}
