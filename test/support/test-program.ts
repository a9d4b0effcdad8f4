import { installProgram, programPaths } from '@toolyard/runtime/install'

/** Programs that some tests need beside Redis and bubblewrap, by the Debian package that has them. */
const packageOf = { rg: 'ripgrep', faketime: 'faketime', setfattr: 'attr', haproxy: 'haproxy' } as const

/**
 * Finds a program on the PATH, or installs it where that needs no question.
 *
 * @returns its path; where there is none, `missing` is the reason to skip a test with
 */
export async function ensureTestProgram (name: keyof typeof packageOf): Promise<{ path: string } | { missing: string }> {
  const find = async (): Promise<string | undefined> => (await programPaths(name, process.env))[0]
  const found = await find()
  if (found !== undefined) return { path: found }
  const said: string[] = []
  const wanted = { name, packages: { 'apt-get': [packageOf[name]] }, isThere: async () => await find() !== undefined, disableServices: true }
  const result = await installProgram(wanted, { env: process.env, say: line => { said.push(line) } })
  const path = await find()
  if (path !== undefined) return { path }
  return { missing: [`There is no ${name}.`, ...said, ...(result.installed ? [] : [result.reason])].join(' ').trim() }
}
