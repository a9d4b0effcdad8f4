import type { SourceFile } from './source-tree.ts'

/** The part of a `package.json` that the guards read. */
export interface PackageManifest {
  name: string
  version: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** A package of the workspace: its folder (`packages/queue`), its `package.json` and its sources. */
export interface WorkspacePackage {
  dir: string
  manifest: PackageManifest
  sources: SourceFile[]
}

/** Finds the packages below `packages/` and `apps/`, and the samples. */
export function readPackages (tree: SourceFile[]): WorkspacePackage[] {
  return tree
    .filter(({ path }) => /^((packages|apps)\/[^/]+|samples)\/package\.json$/.test(path))
    .map(({ path, text }) => {
      const dir = path.slice(0, -'/package.json'.length)
      const sources = tree.filter(file => file.path.startsWith(`${dir}/src/`))
      return { dir, manifest: JSON.parse(text) as PackageManifest, sources }
    })
}

/** The name of the package that a specifier is of: `@a/b/c` is of `@a/b`, `bullmq/x` of `bullmq`. */
export function packageName (specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
