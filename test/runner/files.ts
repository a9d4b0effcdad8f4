import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const built = 'test/build'

/** Directories of tests that have scripts of their own: see package.json. */
const longer = new Set(['bench', 'browser', 'callbacks', 'dashboard', 'faults', 'jobs', 'load', 'streams', 'workflow'])

/**
 * The built files of tests, relative to the root, which is the working directory.
 *
 * @param paths sources, directories of sources, or what was built from them; none means all but the longer suites.
 * @throws Error that names the path where there is no test.
 */
export function testFiles (paths: readonly string[]): string[] {
  const all = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.js')).sort()
  if (paths.length === 0) return all.filter(file => !longer.has(file.split('/')[0] ?? '')).map(file => join(built, file))
  return paths.flatMap(path => {
    const name = path.replace(/^(\.\/)?test\/(build\/)?/, '').replace(/\.ts$/, '.js').replace(/\/$/, '')
    const found = all.filter(file => file === name || file.startsWith(`${name}/`))
    if (found.length === 0) throw new Error(`No test at ${path}: name a file or a directory below test/.`)
    return found.map(file => join(built, file))
  })
}
