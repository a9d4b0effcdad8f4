import type { SourceFile } from './source-tree.ts'
import type { PackageManifest } from './workspace-packages.ts'

/** Paths that only a certain machine has; joined here, so that this file has none of them. */
const machinePaths = [['', 'work', ''], ['', 'root', ''], ['', 'tmp', 'wt']].map(parts => parts.join('/'))

const exact = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/** Finds paths of one machine in the files, as `file:line path`. */
export function findMachinePaths (files: SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => text.split('\n').flatMap((line, index) =>
    machinePaths.filter(each => line.includes(each)).map(each => `${path}:${index + 1} ${each}`)))
}

/** Finds dependencies that a `package.json` doesn't pin to one exact version. */
export function findLooseVersions (files: SourceFile[]): string[] {
  return files.filter(({ path }) => path.split('/').at(-1) === 'package.json').flatMap(({ path, text }) =>
    Object.entries(allDependencies(JSON.parse(text) as PackageManifest))
      .filter(([, version]) => !exact.test(version))
      .map(([name, version]) => `${path} ${name}@${version}`))
}

/** Finds settings of `.npmrc` files that tie the repository to a registry. */
export function findRegistrySettings (files: SourceFile[]): string[] {
  return files.filter(({ path }) => path.split('/').at(-1) === '.npmrc').flatMap(({ path, text }) => text.split('\n')
    .filter(line => /registry|:\/\/|_auth/i.test(line))
    .map(line => `${path} ${line.split('=')[0]?.trim()}`))
}

/** Finds TypeScript files with more lines than `limit`. */
export function findLongFiles (files: SourceFile[], limit: number): string[] {
  return files.filter(({ path }) => path.endsWith('.ts'))
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > limit)
    .map(({ path, lines }) => `${path} ${lines} lines`)
}

function allDependencies (manifest: PackageManifest): Record<string, string> {
  return { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
}
