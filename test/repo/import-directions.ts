import { posix } from 'node:path'
import { readImports, type Import } from './imports.ts'
import { isScript, type SourceFile } from './source-tree.ts'
import { packageName, readPackages, type WorkspacePackage } from './workspace-packages.ts'

/** A package's imports of the others: everything, or types alone. */
interface Room {
  imports: string[]
  types?: string[]
}

const packages = [
  'packages/contract', 'packages/runtime', 'packages/manifests', 'packages/workspace', 'packages/sandbox', 'packages/executors', 'packages/store', 'packages/queue', 'packages/client'
]

/** Who may know whom. A package that isn't here has no place in the house yet. */
const rooms: Record<string, Room> = {
  'packages/contract': { imports: [] },
  samples: { imports: [] },
  'packages/runtime': { imports: ['packages/contract', 'samples'] },
  'packages/manifests': { imports: ['packages/contract', 'packages/runtime'] },
  'packages/workspace': { imports: ['packages/contract', 'packages/runtime'] },
  'packages/sandbox': { imports: ['packages/contract', 'packages/runtime', 'packages/workspace'] },
  'packages/executors': { imports: ['packages/contract', 'packages/runtime', 'packages/workspace', 'packages/sandbox'], types: ['packages/manifests'] },
  'packages/store': { imports: ['packages/contract', 'packages/runtime'] },
  'packages/queue': { imports: ['packages/contract', 'packages/runtime', 'packages/store'] },
  'packages/client': { imports: [], types: ['packages/contract'] },
  'apps/api': { imports: packages.filter(dir => dir !== 'packages/executors' && dir !== 'packages/sandbox') },
  'apps/worker': { imports: packages },
  'apps/cli': { imports: [...packages, 'apps/api', 'apps/worker', 'apps/console'] },
  'apps/console': { imports: ['packages/contract', 'packages/client'] }
}

/** Modules that one package alone may know. The queue has types of ioredis, since BullMQ gives out its clients. */
const keepers: Record<string, { dir: string, types?: string }> = {
  bullmq: { dir: 'packages/queue' },
  ioredis: { dir: 'packages/store', types: 'packages/queue' },
  '@bull-board/api': { dir: 'packages/queue' }
}

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
  if (keeper !== undefined) return keeper.dir === from.dir || (typeOnly && keeper.types === from.dir) ? undefined : `imports ${name}, which only ${keeper.dir} may know`
  const to = all.find(each => each.manifest.name === name)
  if (to === undefined) return name.startsWith('@toolyard/') ? `imports ${name}, which is no package of the workspace` : undefined
  if (to === from) return 'imports its own package by name'
  if (room.imports.includes(to.dir) || (typeOnly && room.types?.includes(to.dir) === true)) return undefined
  return room.types?.includes(to.dir) === true
    ? `imports ${to.dir} at run time; only its types are for ${from.dir}`
    : `imports ${to.dir}, which ${from.dir} must not know`
}
