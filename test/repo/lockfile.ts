import type { SourceFile } from './source-tree.ts'
import { readPackages, type PackageManifest } from './workspace-packages.ts'

interface LockEntry {
  version?: string
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

type LockEntries = Record<string, LockEntry>

/**
 * Finds what would make `npm ci` refuse `package-lock.json`, or tie it to one registry: a `package.json` whose
 * dependencies it doesn't have, a dependency without an entry, an address that packages were fetched from.
 */
export function findLockFaults (tree: SourceFile[]): string[] {
  const lock = tree.find(({ path }) => path === 'package-lock.json')
  const root = tree.find(({ path }) => path === 'package.json')
  if (lock === undefined || root === undefined) return ['package-lock.json or package.json is missing']
  const entries = (JSON.parse(lock.text) as { packages?: LockEntries }).packages ?? {}
  const manifests = [{ dir: '', manifest: JSON.parse(root.text) as PackageManifest }, ...readPackages(tree)]
  return [
    ...manifests.flatMap(({ dir, manifest }) => compareManifest(dir, manifest, entries)),
    ...Object.entries(entries).flatMap(([place, entry]) => [...addressOf(place, entry), ...missingOf(place, entry, entries)])
  ]
}

function compareManifest (dir: string, manifest: PackageManifest, entries: LockEntries): string[] {
  const entry = entries[dir]
  if (entry === undefined) return [`${dir} is not in the lockfile`]
  const faults = dir === '' || entries[`node_modules/${manifest.name}`]?.link === true ? [] : [`${manifest.name} is not linked in the lockfile`]
  for (const section of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
    if (sorted(manifest[section]) !== sorted(entry[section])) faults.push(`${dir === '' ? 'the root' : dir} has other ${section} than the lockfile`)
  }
  return faults
}

function addressOf (place: string, entry: LockEntry): string[] {
  return entry.resolved === undefined || entry.link === true ? [] : [`${place} is resolved to an address`]
}

function missingOf (place: string, entry: LockEntry, entries: LockEntries): string[] {
  return Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
    .filter(name => !resolves(name, place, entries))
    .map(name => `${place === '' ? 'the root' : place} needs ${name}, which is not in the lockfile`)
}

/** Looks for an entry as Node looks for a module: in the place itself, then in each folder above it. */
function resolves (name: string, place: string, entries: LockEntries): boolean {
  const parts = place === '' ? [] : place.split('/')
  return parts.concat('').some((_, index) => {
    const above = parts.slice(0, parts.length - index).join('/')
    return Object.hasOwn(entries, above === '' ? `node_modules/${name}` : `${above}/node_modules/${name}`)
  })
}

function sorted (dependencies: Record<string, string> = {}): string {
  return Object.entries(dependencies).map(([name, version]) => `${name}@${version}`).sort().join(' ')
}
