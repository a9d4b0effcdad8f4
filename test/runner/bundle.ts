import { cp, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'rolldown'
import type { TestFile } from './files.ts'

const built = 'test/build'
const directory = 'test/bundle'

/**
 * Puts tests into few files in `test/bundle`, and the API, workers and command that they start into those that a package has: each of
 * their several hundred processes would otherwise load hundreds of modules, one by one. `TOOLYARD_TEST_PROGRAMS` tells tests where the
 * programs are.
 * Files that must run as they were compiled stay as they are.
 *
 * @returns the files to run in their place.
 */
export async function bundleTests (files: readonly TestFile[]): Promise<TestFile[]> {
  await rm(directory, { recursive: true, force: true })
  const names = files.filter(({ compiled }) => compiled !== true).map(nameOf)
  if (names.length === 0) return [...files]
  const programs = resolve(directory, 'bundle')
  const config: unknown = await import(pathToFileURL(resolve('apps/cli/rolldown.config.js')).href)
  const { commandBundle, ofPackages } = config as { commandBundle: (dir: string) => BuildOptions, ofPackages: Plugin[] }
  await build([{ ...commandBundle(programs), logLevel: 'silent' }, {
    input: Object.fromEntries(names.map(name => [name, join(built, `${name}.js`)])),
    platform: 'node',
    // Large tools that few tests use, and what looks for its own files.
    external: [/^(?:@bull-board|vite|rolldown|typescript|eslint|playwright-core)(?:\/|$)/],
    resolve: { mainFields: ['module', 'main'] },
    plugins: [...ofPackages, ownAddress],
    logLevel: 'silent',
    output: { dir: directory, format: 'esm' }
  }])
  await cp('apps/cli/bin', join(directory, 'bin'), { recursive: true })
  const env = { TOOLYARD_TEST_PROGRAMS: programs }
  return files.map(file => file.compiled === true ? file : { ...file, path: join(directory, `${nameOf(file)}.js`), env: { ...file.env, ...env } })
}

function nameOf ({ path }: TestFile): string {
  return relative(built, path).replace(/\.js$/, '')
}

/** A module finds the files beside it where it was, not where the bundle is. */
const ownAddress: Plugin = {
  name: 'own-address',
  transform: {
    filter: { code: /import\.meta\.(?:url|dirname|filename)/ },
    handler: (code, id) => {
      if (id.startsWith('\0')) return undefined
      const own: Record<string, string> = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id }
      return code.replaceAll(/import\.meta\.(url|dirname|filename)\b/g, (_, name: string) => JSON.stringify(own[name]))
    }
  }
}
