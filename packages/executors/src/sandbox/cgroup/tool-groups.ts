import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallGroup, ProcessGroups } from '../../process/groups.ts'
import { controllers, type Controller, type Hierarchy } from './hierarchy.ts'

/** The share of the processor that tools have together beside the worker, when it is scarce. */
const weight = { version1: 512, version2: 50 } as const
/** What a box itself has beside the processes of its tool: two of bubblewrap, and one that sets limits. */
const boxProcesses = 3
const removeMs = 1_000

/** Limits of all tools of a worker together; absent ones aren't set. */
export interface GroupLimits {
  memoryBytes?: number
  processes?: number
}

/** One group, as the directories that it is: one, or one for each controller. */
type Group = ReadonlyMap<Controller, string>

/**
 * Makes a control group for all tools of this worker, below the worker's own. Processes are born in it, since whoever
 * starts them is in there: to move one costs about 10 ms. A call whose tool sets limits has a group of its own below.
 *
 * @throws Error which says why there can't be one: nothing may be written there, or other processes are in the way
 */
export function openToolGroups (hierarchy: Hierarchy, limits: GroupLimits): ProcessGroups {
  const name = `toolyard-${process.pid}-${process.hrtime.bigint()}`
  const own = hierarchy.version === 2 ? unifiedGroup(hierarchy.directory, name) : { directories: new Map(Object.entries(hierarchy.directories) as Array<[Controller, string]>), leave: () => {} }
  removeStale([...own.directories.values()])
  const group = makeGroup(own.directories, name)
  const set = (target: Group, { memoryBytes, processes }: GroupLimits): Array<[file: string, value: string]> => settings(target, hierarchy.version, { memoryBytes, processes })
  try {
    for (const [file, value] of set(group, limits)) writeFileSync(file, value)
    writeFileSync(join(directoryIn(group, 'cpu'), hierarchy.version === 2 ? 'cpu.weight' : 'cpu.shares'), String(hierarchy.version === 2 ? weight.version2 : weight.version1))
    if (hierarchy.version === 2) writeFileSync(join(directoryIn(group, 'memory'), 'cgroup.subtree_control'), '+memory +pids +cpu')
  } catch (error) {
    removeGroup(group)
    own.leave()
    throw error
  }
  let count = 0
  return {
    members: membersOf(group),
    groupOf ({ memoryBytes, processes }): CallGroup | undefined {
      if (memoryBytes === undefined && processes === undefined) return undefined
      const target = makeGroup(group, `call-${count++}`)
      return {
        members: membersOf(target),
        limits: set(target, { ...(memoryBytes === undefined ? {} : { memoryBytes }), ...(processes === undefined ? {} : { processes: processes + boxProcesses }) }),
        remove: async () => { await emptyGroup(target) }
      }
    },
    async close () {
      await emptyGroup(group)
      own.leave()
    }
  }
}

/** Version 2: controllers are for groups without processes of their own, so this process moves below its group first. */
function unifiedGroup (directory: string, name: string): { directories: Group, leave: () => void } {
  const missing = controllers.filter(controller => !readFileSync(join(directory, 'cgroup.controllers'), 'utf8').split(/\s+/).includes(controller))
  if (missing.length > 0) throw new Error(`the controllers ${missing.join(', ')} are not delegated to ${directory}`)
  const self = join(directory, `${name}-worker`)
  mkdirSync(self)
  const leave = (): void => {
    writeFileSync(join(directory, 'cgroup.procs'), String(process.pid))
    rmdirSync(self)
  }
  try {
    writeFileSync(join(self, 'cgroup.procs'), String(process.pid))
    writeFileSync(join(directory, 'cgroup.subtree_control'), '+memory +pids +cpu')
  } catch (error) {
    try {
      leave()
    } catch {
      // It never came to be in there.
    }
    throw error
  }
  // Leaving would need the controllers to be off again; the empty group is removed by the next worker.
  return { directories: new Map(controllers.map(controller => [controller, directory])), leave: () => {} }
}

function settings (group: Group, version: 1 | 2, { memoryBytes, processes }: { memoryBytes: number | undefined, processes: number | undefined }): Array<[file: string, value: string]> {
  const list: Array<[file: string, value: string]> = []
  if (memoryBytes !== undefined) list.push([join(directoryIn(group, 'memory'), version === 2 ? 'memory.max' : 'memory.limit_in_bytes'), String(memoryBytes)])
  if (processes !== undefined) list.push([join(directoryIn(group, 'pids'), 'pids.max'), String(processes)])
  return list
}

/** @throws Error for a controller that isn't there: all of them are needed. */
function directoryIn (group: Group, controller: Controller): string {
  const directory = group.get(controller)
  if (directory === undefined) throw new Error(`there is no controller ${controller}`)
  return directory
}

function makeGroup (parent: Group, name: string): Group {
  const group = new Map([...parent].map(([controller, directory]) => [controller, join(directory, name)]))
  for (const directory of new Set(group.values())) mkdirSync(directory)
  return group
}

function membersOf (group: Group): string[] {
  return [...new Set(group.values())].map(directory => join(directory, 'cgroup.procs'))
}

/** Kills what is still in a group, where the kernel can (cgroup.kill), and removes it when the last process was reaped. */
async function emptyGroup (group: Group): Promise<void> {
  for (const directory of new Set(group.values())) {
    const kill = join(directory, 'cgroup.kill')
    if (existsSync(kill)) writeFileSync(kill, '1')
  }
  const until = performance.now() + removeMs
  while (!removeGroup(group) && performance.now() < until) await sleep(5)
}

function removeGroup (group: Group): boolean {
  return [...new Set(group.values())].map(removeDirectory).every(removed => removed)
}

function removeDirectory (directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Groups of workers that died: the kernel removes none that has processes. */
function removeStale (directories: readonly string[]): void {
  for (const directory of new Set(directories)) {
    for (const name of readdirSync(directory).filter(entry => /^toolyard-\d+-\d+/.test(entry) && !isAlive(Number(entry.split('-')[1])))) {
      const stale = join(directory, name)
      for (const call of readdirSync(stale).filter(entry => entry.startsWith('call-'))) removeDirectory(join(stale, call))
      removeDirectory(stale)
    }
  }
}

function isAlive (pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}
