import { isBuiltin } from 'node:module'
import { readImports, type Import } from './imports.ts'
import { isScript, type SourceFile } from './source-tree.ts'
import { packageName, readPackages, type PackageManifest, type WorkspacePackage } from './workspace-packages.ts'

/** Finds imports below `packages/` and `apps/` of what the package's own `package.json` doesn't declare. */
export function findUndeclared (tree: SourceFile[]): string[] {
  return readPackages(tree).flatMap(({ dir, manifest, sources }) => {
    const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }))
    return undeclaredIn(sources, declared, `${dir}/package.json doesn't declare`)
  })
}

/** Finds imports below `test/` that are neither packages of the workspace nor devDependencies of its root. */
export function findUndeclaredInTests (tree: SourceFile[]): string[] {
  const root = tree.find(({ path }) => path === 'package.json')
  const manifest = JSON.parse(root?.text ?? '{}') as PackageManifest
  const declared = new Set([...Object.keys(manifest.devDependencies ?? {}), ...readPackages(tree).map(each => each.manifest.name)])
  return undeclaredIn(tree.filter(({ path }) => path.startsWith('test/')), declared, "package.json doesn't declare")
}

/** Finds dependencies that a package declares and never imports. */
export function findUnused (tree: SourceFile[]): string[] {
  return readPackages(tree).flatMap(({ dir, manifest, sources }: WorkspacePackage) => {
    const used = new Set(sources.filter(({ path }) => isScript(path)).flatMap(readImports).flatMap(nameOf))
    return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies })
      .filter(name => !used.has(name))
      .map(name => `${dir}/package.json declares ${name}, which nothing imports`)
  })
}

/**
 * Finds what keeps a file from starting where nothing is installed: imports of anything but files and Node's own modules,
 * by their `node:` names. An `import()` may follow once the file has installed what it loads.
 */
export function findForeign (files: SourceFile[]): string[] {
  return files.flatMap(file => readImports(file)
    .filter(({ specifier, late }) => !late && !/^(node:|\.)/.test(specifier ?? ''))
    .map(({ specifier = '', line }) => `${file.path}:${line} imports ${specifier}`))
}

function undeclaredIn (files: SourceFile[], declared: Set<string>, complaint: string): string[] {
  return files.filter(({ path }) => isScript(path)).flatMap(file => readImports(file).flatMap(each =>
    nameOf(each).filter(name => !declared.has(name)).map(name => `${file.path}:${each.line} imports ${name}, which ${complaint}`)
  ))
}

function nameOf ({ specifier }: Import): string[] {
  if (specifier === undefined || /^[./#]/.test(specifier) || isBuiltin(specifier)) return []
  return [packageName(specifier)]
}
