import { readMark, type Mark } from './mark.ts'
import type { ProcessEntry } from './process-table.ts'

/** What is known of a call's processes from their start on. */
export interface TreeRoot {
  /** Also the number of the group and of the session that the first process leads. */
  pid: number
  /** Clock ticks since boot; undefined where there is no /proc. */
  started: number | undefined
  mark: Mark | undefined
}

/**
 * The call's processes in a process table: the first one's session and group, `known` ones that still live, orphans
 * with the call's mark, and whatever descends from any of these or shares a session or group with them. Every session
 * and group of a call was made inside it, so nobody else's process can be in one.
 */
export function findTree (table: Map<number, ProcessEntry>, root: TreeRoot, known: Iterable<ProcessEntry>): Map<number, ProcessEntry> {
  const tree = new Map<number, ProcessEntry>()
  const rooms = new Set([root.pid])
  const add = (entry: ProcessEntry): void => {
    tree.set(entry.pid, entry)
    rooms.add(entry.session).add(entry.group)
  }
  for (const { pid, started } of known) {
    const entry = table.get(pid)
    if (entry?.started === started) add(entry)
  }
  for (const entry of findOrphans(table, root)) add(entry)
  for (let size = -1; size !== tree.size;) {
    size = tree.size
    for (const entry of table.values()) {
      if (!tree.has(entry.pid) && (tree.has(entry.parent) || rooms.has(entry.session) || rooms.has(entry.group))) add(entry)
    }
  }
  return tree
}

/**
 * Marked processes that lost their parent. The kernel gives those to an ancestor of the worker (or to the worker, as
 * the first process of a container). The other conditions keep a process of another worker, which may have the same
 * mark, out of it: its parent lives, and it or its session is older.
 */
function findOrphans (table: Map<number, ProcessEntry>, root: TreeRoot): ProcessEntry[] {
  const { started, mark } = root
  if (mark === undefined || started === undefined) return []
  const ancestors = ancestorsOf(process.pid, table)
  const session = table.get(process.pid)?.session
  return [...table.values()].filter(entry => ancestors.has(entry.parent) && !ancestors.has(entry.pid) &&
    entry.started >= started && entry.session !== session && readMark(entry.pid) === mark)
}

/** A process, its parent, and so on up to the first one. */
function ancestorsOf (pid: number, table: Map<number, ProcessEntry>): Set<number> {
  const ancestors = new Set<number>()
  for (let at = table.get(pid); at !== undefined && !ancestors.has(at.pid); at = table.get(at.parent)) ancestors.add(at.pid)
  return ancestors
}
