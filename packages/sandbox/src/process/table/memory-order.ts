import { orElse } from '@toolyard/contract/terms'
import { readFileSync, writeFileSync } from 'node:fs'
import { childrenOfThread } from './process-table.ts'

/*
 * Which processes the kernel ends where memory is short: the largest, which is the worker or Redis where a call has many small
 * ones. So those of tools come first, and only among them the largest.
 */

/** The most that there is. A tool can't lower it, since /proc is read-only in its box. */
const first = '1000'

/**
 * While a process is started, its starter stands so far on the way from its own place to that of tools, and so does what is born
 * then. Tools that run are ended before it, and it before the worker, also where a worker of 110 MiB has little more than that.
 */
const part = 0.7

/**
 * Starts a process so that it is ended first, with all that it starts. Memory is often short at this very moment:
 * with the place of a tool, its starter would be ended, and all that it started before.
 *
 * @param proc where /proc is. Who starts it keeps its own place.
 * @param pidOf the id there of what was started; undefined where nothing was
 */
export function startFirstToEnd<Started> (proc: string, start: () => Started, pidOf: (started: Started) => number | undefined): Started {
  const own = readPlace(`${proc}/self`)
  if (own !== undefined) setPlace(`${proc}/self`, String(Math.round(Number(own) + part * (Number(first) - Number(own)))))
  try {
    const started = start()
    const pid = pidOf(started)
    if (pid !== undefined) endFamilyFirst(pid, proc)
    return started
  } finally {
    if (own !== undefined) setPlace(`${proc}/self`, own)
  }
}

/** It may have started others by now. One that is just being born keeps the place that it is born with. */
function endFamilyFirst (pid: number, proc: string): void {
  setPlace(`${proc}/${pid}`, first)
  for (const child of orElse(() => childrenOfThread(pid, String(pid), proc), [])) endFamilyFirst(child, proc)
}

/** Lets a process that runs be ended first, with all that it starts from now on. */
export function endFirst (pid: number): void {
  setPlace(`/proc/${pid}`, first)
}

/** Whether the kernel ends it first: a process of a tool, and not what starts such. */
export function isFirstToEnd (pid: number): boolean {
  return readPlace(`/proc/${pid}`)?.trim() === first
}

function readPlace (process: string): string | undefined {
  try {
    return readFileSync(`${process}/oom_score_adj`, 'utf8')
  } catch {
    return undefined
  }
}

/** Where the kernel refuses it, all is as it was. */
function setPlace (process: string, place: string): void {
  try {
    writeFileSync(`${process}/oom_score_adj`, place)
  } catch {}
}
