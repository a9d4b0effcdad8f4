import { posix } from 'node:path'
import { readImports } from './imports.ts'
import type { SourceFile } from './source-tree.ts'

/** More rooms than this at the top of a package, and nobody finds a file by its name. */
const mostRooms = 12

/** A dozen files is the habit. Where a folder has more than this, it is two rooms. */
const mostFiles = 15

/** README.md of a package is a map, not a book. */
const mostLines = 40

/** Finds why nobody finds their way in a package, as sentences: circles of imports, many rooms, full rooms, rooms without a purpose. */
export function findRoomFaults (tree: SourceFile[], dir: string): string[] {
  const sources = tree.filter(({ path }) => path.startsWith(`${dir}/src/`) && /\.tsx?$/.test(path))
  const files = new Map(sources.map(file => [file.path, importedFiles(file)]))
  const rooms = [...new Set(sources.map(({ path }) => topRoom(dir, path)))].filter(room => room !== '.')
  const readme = tree.find(({ path }) => path === `${dir}/README.md`)?.text
  return [
    ...circles(files).map(circle => `files import each other in a circle: ${circle.join(' -> ')}`),
    ...circles(folded(files, path => posix.dirname(path))).map(circle => `folders import each other in a circle: ${circle.join(' -> ')}`),
    ...circles(folded(files, path => topRoom(dir, path))).map(circle => `rooms of ${dir} import each other in a circle: ${circle.join(' -> ')}`),
    ...(rooms.length > mostRooms ? [`${dir}/src has ${rooms.length} rooms; at most ${mostRooms}`] : []),
    ...crowded([...files.keys()]).map(([folder, count]) => `${folder} has ${count} files; at most ${mostFiles}`),
    ...readmeFaults(dir, readme, rooms)
  ]
}

function importedFiles (file: SourceFile): Set<string> {
  const targets = readImports(file).flatMap(({ specifier }) => specifier?.startsWith('.') === true ? [posix.join(posix.dirname(file.path), specifier)] : [])
  return new Set(targets)
}

/** The first folder below `src`; `.` for a file at the top. */
function topRoom (dir: string, path: string): string {
  const [first = '', ...rest] = path.slice(`${dir}/src/`.length).split('/')
  return rest.length === 0 ? '.' : first
}

/** Folders with too many files of their own. */
function crowded (paths: readonly string[]): Array<[folder: string, files: number]> {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > mostFiles)
}

function folded (files: ReadonlyMap<string, ReadonlySet<string>>, groupOf: (path: string) => string): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>()
  for (const [path, targets] of files) {
    const group = groupOf(path)
    const known = groups.get(group) ?? new Set()
    for (const target of targets) if (files.has(target) && groupOf(target) !== group) known.add(groupOf(target))
    groups.set(group, known)
  }
  return groups
}

/** One circle through each node that a walk meets again on its own way. */
function circles (graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (node: string, way: string[]): void => {
    const at = way.indexOf(node)
    if (at !== -1) found.push([...way.slice(at), node])
    if (at !== -1 || done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...way, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}

function readmeFaults (dir: string, readme: string | undefined, rooms: readonly string[]): string[] {
  if (readme === undefined) return [`${dir} has no README.md`]
  const lines = readme.trimEnd().split('\n')
  return [
    ...(lines.length > mostLines ? [`${dir}/README.md has ${lines.length} lines; at most ${mostLines}`] : []),
    ...rooms.filter(room => !lines.some(line => line.includes(`\`${room}/\``))).map(room => `${dir}/README.md doesn't say what ${room}/ is for`)
  ]
}
