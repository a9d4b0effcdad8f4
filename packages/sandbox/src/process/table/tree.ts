import { readMark, type Mark } from './mark.ts'
import { inTurns, type ProcessEntry } from './process-table.ts'

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
 * and group of a call was made inside it, so no other process can be in one.
 */
export async function findTree (
  table: Map<number, ProcessEntry>, root: TreeRoot, known: Iterable<ProcessEntry>
): Promise<Map<number, ProcessEntry>> {
  const bySessionOrGroup = byNumbers(table, ({ session, group }) => [session, group])
  const children = byNumbers(table, ({ parent }) => [parent])
  const tree = new Map<number, ProcessEntry>()
  const seen = new Set<number>()
  const found = [...known].flatMap(({ pid, started }) => {
    const entry = table.get(pid)
    return entry?.started === started ? [entry] : []
  })
  found.push(...await findOrphans(table, root), ...bySessionOrGroup.get(root.pid) ?? [])
  // Each process, session and group once: the order in the table may be the worst one, and a chain of thousands is one call's.
  for (const entry of found) {
    if (tree.has(entry.pid)) continue
    tree.set(entry.pid, entry)
    for (const child of children.get(entry.pid) ?? []) found.push(child)
    for (const number of [entry.session, entry.group]) {
      if (seen.has(number)) continue
      seen.add(number)
      for (const mate of bySessionOrGroup.get(number) ?? []) found.push(mate)
    }
  }
  return tree
}

function byNumbers (table: Map<number, ProcessEntry>, numbersOf: (entry: ProcessEntry) => number[]): Map<number, ProcessEntry[]> {
  const lists = new Map<number, ProcessEntry[]>()
  for (const entry of table.values()) {
    for (const number of new Set(numbersOf(entry))) {
      const list = lists.get(number)
      if (list === undefined) lists.set(number, [entry])
      else list.push(entry)
    }
  }
  return lists
}

/**
 * Marked processes that lost their parent. The kernel gives those to an ancestor of the worker (or to the worker, as
 * the first process of a container). The other conditions keep a process of another worker, which may have the same
 * mark, out of it: its parent lives, and it or its session is older.
 */
async function findOrphans (table: Map<number, ProcessEntry>, root: TreeRoot): Promise<ProcessEntry[]> {
  const { started, mark } = root
  if (mark === undefined || started === undefined) return []
  const ancestors = ancestorsOf(process.pid, table)
  const session = table.get(process.pid)?.session
  const strays = [...table.values()].filter(entry => ancestors.has(entry.parent) && !ancestors.has(entry.pid) &&
    entry.started >= started && entry.session !== session)
  const orphans: ProcessEntry[] = []
  for await (const entry of inTurns(strays)) if (readMark(entry.pid) === mark) orphans.push(entry)
  return orphans
}

/** A process, its parent, and so on up to the first one. */
function ancestorsOf (pid: number, table: Map<number, ProcessEntry>): Set<number> {
  const ancestors = new Set<number>()
  for (let at = table.get(pid); at !== undefined && !ancestors.has(at.pid); at = table.get(at.parent)) ancestors.add(at.pid)
  return ancestors
}
