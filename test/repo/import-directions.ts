import { posix } from 'node:path'
import { readImports, type Import } from './imports.ts'
import { isScript, type SourceFile } from './source-tree.ts'
import { packageName, readPackages, type WorkspacePackage } from './workspace-packages.ts'

/** What one package may import of the others: everything, or types alone. */
interface Room {
  imports: string[]
  types?: string[]
}

const packages = ['packages/contract', 'packages/runtime', 'packages/manifests', 'packages/workspace', 'packages/executors', 'packages/queue', 'packages/client']

/** Who may know whom. A package that isn't here has no place in the house yet. */
const rooms: Record<string, Room> = {
  'packages/contract': { imports: [] },
  samples: { imports: [] },
  'packages/runtime': { imports: ['packages/contract', 'samples'] },
  'packages/manifests': { imports: ['packages/contract'] },
  'packages/workspace': { imports: ['packages/contract', 'packages/runtime'] },
  'packages/executors': { imports: ['packages/contract', 'packages/runtime', 'packages/workspace'], types: ['packages/manifests'] },
  'packages/queue': { imports: ['packages/contract', 'packages/runtime'] },
  'packages/client': { imports: [], types: ['packages/contract'] },
  'apps/api': { imports: packages.filter(dir => dir !== 'packages/executors') },
  'apps/worker': { imports: packages },
  'apps/cli': { imports: [...packages, 'apps/api', 'apps/worker', 'apps/console'] },
  'apps/console': { imports: ['packages/contract', 'packages/client'] }
}

/** Modules that one room alone may know. */
const keepers: Record<string, string> = { bullmq: 'packages/queue', ioredis: 'packages/queue', '@bull-board/api': 'packages/queue' }

/** Finds every import below `packages/` and `apps/` that points a way it must not, as `file:line what`. */
export function findWrongImports (tree: SourceFile[]): string[] {
  const all = readPackages(tree)
  return all.flatMap(from => {
    const room = rooms[from.dir]
    if (room === undefined) return [`${from.dir} has no place among the import directions`]
    return from.sources.filter(file => isScript(file.path)).flatMap(file => readImports(file).flatMap(each => {
      const wrong = wrongImport(each, { file, from, room, all })
      return wrong === undefined ? [] : [`${file.path}:${each.line} ${wrong}`]
    }))
  })
}

interface Place {
  file: SourceFile
  from: WorkspacePackage
  room: Room
  all: WorkspacePackage[]
}

function wrongImport ({ specifier, typeOnly }: Import, { file, from, room, all }: Place): string | undefined {
  if (specifier === undefined) return 'imports a computed target, which nobody can check'
  if (specifier.startsWith('.') || specifier.startsWith('/')) {
    const target = posix.join(posix.dirname(file.path), specifier)
    return !specifier.startsWith('/') && target.startsWith(`${from.dir}/`) ? undefined : `leaves its package by the path ${specifier}`
  }
  const name = packageName(specifier)
  const keeper = keepers[name]
  if (keeper !== undefined) return keeper === from.dir ? undefined : `imports ${name}, which only ${keeper} may know`
  const to = all.find(each => each.manifest.name === name)
  if (to === undefined) return name.startsWith('@toolyard/') ? `imports ${name}, which is no package of the workspace` : undefined
  if (to === from) return 'imports its own package by name'
  if (room.imports.includes(to.dir) || (typeOnly && room.types?.includes(to.dir) === true)) return undefined
  return room.types?.includes(to.dir) === true
    ? `imports ${to.dir} at run time; only its types are for ${from.dir}`
    : `imports ${to.dir}, which ${from.dir} must not know`
}
