import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { orElse } from '@toolyard/contract/terms'

export const controllers = ['memory', 'cpu', 'pids'] as const
export type Controller = (typeof controllers)[number]

/** The control groups that a process is in: one for all controllers (version 2), or one for each (version 1). */
export type Hierarchy =
  | { version: 2, directory: string }
  | { version: 1, directories: ReadonlyMap<Controller, string> }

interface Mount {
  place: string
  /** The part of the hierarchy that is mounted there. */
  root: string
  type: string
  options: readonly string[]
}

/**
 * Finds the control groups of a process as its /proc directory tells; undefined where there are none. The controllers of
 * version 1 count when there are any: a version 2 hierarchy beside them has none.
 */
export function findHierarchy (proc = '/proc/self'): Hierarchy | undefined {
  try {
    const mounts = parseMounts(readFileSync(join(proc, 'mountinfo'), 'utf8'))
    const groups = readFileSync(join(proc, 'cgroup'), 'utf8').split('\n').map(line => /^\d+:([^:]*):(.*)$/.exec(line)).filter(match => match !== null)
    const found: Array<[Controller, string]> = []
    for (const [, names = '', path = ''] of groups) {
      for (const controller of controllers.filter(name => names.split(',').includes(name))) {
        const directory = directoryOf(mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller)), path)
        if (directory !== undefined) found.push([controller, directory])
      }
    }
    if (found.length > 0) return { version: 1, directories: new Map(found) }
    const unified = groups.find(([, names]) => names === '')
    const directory = unified === undefined ? undefined : directoryOf(mounts.find(({ type }) => type === 'cgroup2'), unified[2] ?? '')
    return directory === undefined ? undefined : { version: 2, directory }
  } catch {
    return undefined
  }
}

/** What the processes in these groups may have of the machine's memory, in bytes. */
export function memoryBound (hierarchy: Hierarchy): number {
  const bounds = hierarchy.version === 2 ? boundsAbove(hierarchy.directory) : [hierarchicalBound(hierarchy.directories.get('memory'))]
  return Math.min(totalmem(), ...bounds)
}

/** The group's own and those of all that it is in, as far as they can be seen. */
function boundsAbove (directory: string): number[] {
  const text = orElse(() => readFileSync(join(directory, 'memory.max'), 'latin1'), 'max').trim()
  const own = text === 'max' ? [] : [Number(text)]
  return dirname(directory) === directory ? own : [...own, ...boundsAbove(dirname(directory))]
}

function hierarchicalBound (directory: string | undefined): number {
  const stat = directory === undefined ? '' : orElse(() => readFileSync(join(directory, 'memory.stat'), 'latin1'), '')
  return Number(/^hierarchical_memory_limit (\d+)$/m.exec(stat)?.[1] ?? Infinity)
}

/** See proc_pid_mountinfo(5): the fields behind the dash are the type, the source and the options of the file system. */
function parseMounts (text: string): Mount[] {
  return text.split('\n').filter(line => line.includes(' - ')).map(line => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root = '', place = ''] = before.split(' ')
    const [type = '', , options = ''] = after.split(' ')
    return { place, root, type, options: options.split(',') }
  })
}

function directoryOf (mount: Mount | undefined, path: string): string | undefined {
  if (mount === undefined) return undefined
  if (mount.root === '/') return resolve(mount.place, `.${path}`)
  return path === mount.root || path.startsWith(`${mount.root}/`) ? resolve(mount.place, `.${path.slice(mount.root.length)}`) : undefined
}
