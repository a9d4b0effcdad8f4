import { orElse } from '@toolyard/contract/terms'
import { readFileSync, statfsSync } from 'node:fs'
import { familyOf, readStatFields, signalGroup, signalProcess } from '@toolyard/sandbox'

const kibibyte = 1_024
/** The private temporary file systems of a box, beside that of HOME. */
const temporaryPlaces = ['/tmp', '/dev/shm']

export interface FamilyState {
  pids: number[]
  /** The same text twice: none has worked in between, as far as the kernel counts. */
  trace: string
  /** The letters of their states, as proc_pid_stat(5) has them: S sleeps, T is stopped. */
  states: string
  /** Whether these are all: there may be more than one turn of the event loop bears. */
  whole: boolean
  /** Whether all are in the group of the first one, where one signal reaches them. */
  inGroup: boolean
}

/** Looks at a process and all that descends from it. */
export function readFamily (root: number): FamilyState {
  const { pids, whole } = familyOf(root)
  const lines: string[] = []
  let states = ''
  let inGroup = true
  for (const pid of pids) {
    const fields = orElse(() => readStatFields(pid), undefined)
    if (fields === undefined) continue
    const [state = '', , group, , , , , faults, , hardFaults, , user, system] = fields
    states += state
    inGroup &&= Number(group) === root
    lines.push([pid, state, faults, hardFaults, user, system, fields[17]].join(' '))
  }
  return { pids, whole, trace: lines.join('\n'), states, inGroup }
}

/** Bytes of memory that processes have for themselves, and that their files in the box's temporary file systems take. */
export function familyBytes ({ pids }: FamilyState, home: string | undefined): number {
  const memory = pids.reduce((sum, pid) => sum + privateBytes(pid), 0)
  const last = pids.at(-1)
  const places = home === undefined ? temporaryPlaces : [...temporaryPlaces, home]
  return memory + (last === undefined ? 0 : places.reduce((sum, place) => sum + usedBytes(`/proc/${last}/root${place}`), 0))
}

/** Stops the processes of a box, or lets them go on. */
export function signalFamily (root: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
  return signalGroup(root, signal) && signalProcess(root, 0)
}

function privateBytes (pid: number): number {
  const status = orElse(() => readFileSync(`/proc/${pid}/status`, 'latin1'), '')
  return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)].reduce((sum, [, kib]) => sum + Number(kib) * kibibyte, 0)
}

/** 0 for what is no file system of the box's own. */
function usedBytes (place: string): number {
  const { type, bsize, blocks, bfree } = orElse(() => statfsSync(place), { type: 0, bsize: 0, blocks: 0, bfree: 0 })
  return type === tmpfs ? (blocks - bfree) * bsize : 0
}

/** See statfs(2). */
const tmpfs = 0x01021994
