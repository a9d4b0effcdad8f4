import { installProgram, type InstallOptions } from './install-program.ts'
import { programPaths } from './program-path.ts'

/** The first has no window and none of its parts: its pages take half of the processor time. */
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/**
 * Finds a Chromium for the tests of pages on the PATH, or installs one where that needs no question.
 *
 * @returns its path; undefined when there is none, which was reported then
 */
export async function ensureChromium (options: InstallOptions): Promise<string | undefined> {
  const find = async (): Promise<string | undefined> => (await Promise.all(names.map(name => programPaths(name, options.env)))).flat()[0]
  const found = await find()
  if (found !== undefined) return found
  const packages = { 'apt-get': ['chromium-headless-shell', 'chromium', 'chromium-browser'], dnf: ['chromium'], apk: ['chromium'] }
  const result = await installProgram({ name: 'Chromium', packages, isThere: async () => await find() !== undefined, disableServices: false }, options)
  if (!result.installed) options.say(['There is no Chromium.', result.reason].join(' ').trim())
  return await find()
}
