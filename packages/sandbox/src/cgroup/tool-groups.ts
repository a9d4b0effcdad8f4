import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, orElse } from '@toolyard/contract/terms'
import type { CallGroup, OwnedCall, ProcessGroups } from '../process/table/groups.ts'
import { readProcess } from '../process/table/process-table.ts'
import { controllers, type Controller, type Hierarchy } from './hierarchy.ts'
import { restingIn } from './resting.ts'
import { memoryOf, processesOf, watchShortages, type EndedForShortage } from './shortage-watch.ts'

/** The share of the processor that tools have together beside the worker, when it is scarce. */
const weight = { version1: 512, version2: 50 } as const
/** Beside the processes of a tool: two of bubblewrap and one that sets limits, or the init of an inner box. */
const ownProcesses = { box: 3, inner: 1 } as const
const removeMs = 1_000
const moveAttempts = 5
/** Of version 2: the group below the service's own where its processes are, beside those of tools. */
const servicesName = 'toolyard-services'
/** Of version 2: where whoever starts tools is, and with it the tools that need no group of their own. */
const helpersName = 'tools'

/** Processes and threads of a host and its calls together, until they have a group of their own. */
const hostProcesses = 1_024

/** Limits; absent ones aren't set. */
interface GroupLimits {
  memoryBytes?: number
  processes?: number
}

/** Limits of all tools of a worker together. */
export interface ToolGroupLimits extends GroupLimits {
  /** Processes and threads of a call whose tool sets no number of its own. */
  ofCall: number
  /** Hears of a call that was ended since `memoryBytes` or `processes` are nearly used up. */
  onEnded?: (ended: EndedForShortage) => void
}

/** One group, as the directories that it is: one, or one for each controller. */
type Group = ReadonlyMap<Controller, string>

/**
 * Makes a control group for all tools of this worker, below that of the service. Processes are born in it, since whoever
 * starts them is in there: to move one costs up to 10 ms. Below it, each process that is started has a group for its share of the
 * processor and a number of its own, and a call whose tool sets limits one of its own.
 *
 * @param service the process of the service that all others in that group descend from: this one, or who supervises it
 * @throws Error which says why there can't be one: nothing may be written there, or other processes are in the way
 */
export function openToolGroups (
  hierarchy: Hierarchy, { ofCall, onEnded = () => {}, ...limits }: ToolGroupLimits, service: number
): ProcessGroups {
  const { version } = hierarchy
  const own = hierarchy.version === 2
    ? unifiedGroup(hierarchy.directory, service)
    : hierarchy.directories
  removeStale([...own.values()])
  const group = makeGroup(own, `toolyard-${process.pid}-${process.hrtime.bigint()}`)
  const set = (target: Group, { memoryBytes, processes }: GroupLimits): Array<[file: string, value: string]> =>
    settings(target, version, { memoryBytes, processes })
  orRemoved(group, () => {
    for (const [file, value] of set(group, limits)) writeFileSync(file, value)
    writeFileSync(join(directoryIn(group, 'cpu'), version === 2 ? 'cpu.weight' : 'cpu.shares'), String(version === 2 ? weight.version2 : weight.version1))
    if (version === 2) writeFileSync(join(directoryIn(group, 'memory'), 'cgroup.subtree_control'), '+memory +pids +cpu')
  })
  const helpers = version === 2 ? makeGroup(group, helpersName) : group
  const memory = directoryIn(group, 'memory')
  /** By the first process of a call. */
  const owned = new Map<number, OwnedCall>()
  /** Not whoever starts tools, and no host of Python tools: all calls of its module would end with it. */
  const candidates = (): string[] => groupsIn(memory).map(below => basename(below)).filter(name => !/^(?:host-|tools$)/.test(name))
  const bounds = [memoryOf(memory, limits.memoryBytes ?? Infinity, version), processesOf(directoryIn(group, 'pids'), limits.processes ?? Infinity)]
  const watch = watchShortages(bounds, { candidates, groups: () => groupsIn(memory), callOf: pid => owned.get(pid), onEnded })
  let calls = 0
  let shares = 0
  return {
    own (pid, call) {
      owned.set(pid, call)
      return () => { if (owned.get(pid) === call) owned.delete(pid) }
    },
    resting: pid => restingIn(directoryIn(group, 'cpu'), version, pid),
    ofHelper () {
      const name = `share-${shares++}-`
      const prefixes = [...new Set(controllers.map(controller => directoryIn(group, controller)))].map(directory => join(directory, name))
      return { members: membersOf(helpers), shares: prefixes, processes: ofCall + ownProcesses.box }
    },
    share (kind) {
      const target = makeGroup(group, `${kind === 'host' ? 'host' : 'share'}-${shares++}`)
      orRemoved(target, () => {
        for (const [file, value] of set(target, { processes: kind === 'host' ? hostProcesses : ofCall + ownProcesses[kind] })) writeFileSync(file, value)
      })
      return { members: membersOf(target), limits: [], remove: async () => { await emptyGroup(target) } }
    },
    groupOf ({ memoryBytes, processes }, kind): CallGroup | undefined {
      if (memoryBytes === undefined && processes === undefined) return undefined
      const target = makeGroup(group, `call-${calls++}`)
      return {
        members: membersOf(target),
        limits: set(target, { ...memoryBytes !== undefined && { memoryBytes }, processes: (processes ?? ofCall) + ownProcesses[kind] }),
        remove: async () => { await emptyGroup(target) }
      }
    },
    async close () {
      watch.close()
      const below = [...new Set(group.values())].flatMap(groupsIn)
      await Promise.all(below.map(async directory => { await emptyGroup(new Map([['pids', directory]])) }))
      await emptyGroup(group)
    }
  }
}

/**
 * Version 2: controllers are for groups without processes of their own, so those of the service move into one below
 * first. It stays: the next worker of the service is born in there.
 */
function unifiedGroup (found: string, service: number): Group {
  const directory = basename(found) === servicesName ? dirname(found) : found
  const missing = controllers.filter(controller => !readFileSync(join(directory, 'cgroup.controllers'), 'utf8').split(/\s+/).includes(controller))
  if (missing.length > 0) throw new Error(`the controllers ${missing.join(', ')} are not delegated to ${directory}`)
  const below = join(directory, servicesName)
  mkdirSync(below, { recursive: true })
  const moved: number[] = []
  // Other workers of the service may be born meanwhile.
  for (let attempt = 0; attempt < moveAttempts; attempt++) {
    const members = membersOfService(directory, service)
    moved.push(...members)
    move(members, below)
    if (handOn(directory)) return new Map(controllers.map(controller => [controller, directory]))
  }
  move(moved, directory)
  removeDirectory(below)
  throw new Error(`there are processes in ${directory} that are not Toolyard's, so groups below it can have no limits`)
}

/** False when processes are in the way. */
function handOn (directory: string): boolean {
  try {
    writeFileSync(join(directory, 'cgroup.subtree_control'), '+memory +pids +cpu')
    return true
  } catch (error) {
    if (errorCode(error) !== 'EBUSY') throw error
    return false
  }
}

/** Those in a group that are `service` or descend from it. */
function membersOfService (directory: string, service: number): number[] {
  const descends = (pid: number): boolean => {
    const parent = pid === service ? undefined : readProcess(pid)?.parent
    return pid === service || (parent !== undefined && parent > 0 && descends(parent))
  }
  return readFileSync(join(directory, 'cgroup.procs'), 'utf8').split('\n').filter(line => line !== '').map(Number).filter(descends)
}

/** As far as they are still there. */
function move (pids: readonly number[], directory: string): void {
  for (const pid of pids) {
    try {
      writeFileSync(join(directory, 'cgroup.procs'), String(pid))
    } catch (error) {
      // EBUSY: another worker has switched controllers on for the groups below, so this group takes no processes.
      if (!['ESRCH', 'EBUSY'].includes(errorCode(error) ?? '')) throw error
    }
  }
}

function settings (
  group: Group, version: 1 | 2, { memoryBytes, processes }: { memoryBytes: number | undefined, processes: number | undefined }
): Array<[file: string, value: string]> {
  const list: Array<[file: string, value: string]> = []
  if (memoryBytes !== undefined) list.push([join(directoryIn(group, 'memory'), version === 2 ? 'memory.max' : 'memory.limit_in_bytes'), String(memoryBytes)])
  // Memory that doesn't fit must not go to the swap instead, where there is one.
  const swap = version === 2 && memoryBytes !== undefined ? join(directoryIn(group, 'memory'), 'memory.swap.max') : undefined
  if (swap !== undefined && existsSync(swap)) list.push([swap, '0'])
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
  orRemoved(group, () => {
    for (const directory of new Set(group.values())) mkdirSync(directory)
  })
  return group
}

/** A group that can't be made as a whole, or not be set up, leaves no directory. */
function orRemoved (group: Group, act: () => void): void {
  try {
    act()
  } catch (error) {
    removeGroup(group)
    throw error
  }
}

function membersOf (group: Group): string[] {
  return [...new Set(group.values())].map(directory => join(directory, 'cgroup.procs'))
}

/** Kills what is still in a group, where the kernel can (cgroup.kill), and removes it when the last process was reaped. Never rejects. */
async function emptyGroup (group: Group): Promise<void> {
  for (const directory of new Set(group.values())) {
    try {
      writeFileSync(join(directory, 'cgroup.kill'), '1', { flag: 'r+' })
    } catch {
      // The kernel has no such file, or the group is gone.
    }
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
    return errorCode(error) === 'ENOENT'
  }
}

/** None in one that is gone: another worker may remove it. */
function groupsIn (directory: string): string[] {
  const entries = orElse(() => readdirSync(directory, { withFileTypes: true }), [])
  return entries.flatMap(entry => entry.isDirectory() ? [join(directory, entry.name)] : [])
}

/** Groups of workers that died: the kernel removes none that has processes. */
function removeStale (directories: readonly string[]): void {
  for (const directory of new Set(directories)) {
    for (const name of readdirSync(directory).filter(entry => /^toolyard-\d+-\d+/.test(entry) && !existsSync(`/proc/${entry.split('-')[1]}`))) {
      const stale = join(directory, name)
      for (const below of groupsIn(stale)) removeDirectory(below)
      removeDirectory(stale)
    }
  }
}
