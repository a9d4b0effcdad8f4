import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { CallError } from '@toolyard/contract'
import type { Box, BoxEntry, BoxStatus } from './box.ts'
import type { Mark, Marks } from './mark.ts'
import type { ProcessPlan } from './plan.ts'
import { readProcess } from './process-table.ts'
import { hasProgramFormat } from './program-format.ts'
import { sandboxError, startError } from './start-error.ts'
import type { TreeRoot } from './tree.ts'

export type Child = ChildProcessByStdio<Writable, Readable, Readable>

export type Start =
  | { started: true, child: Child, root: TreeRoot, box: BoxStatus | undefined }
  | { started: false, error: CallError }

/**
 * Starts a process as the leader of a session of its own, with three pipes and no other descriptor, no shell (A42) and
 * no variable that the plan doesn't name (A41); in a box if there is one. Never rejects: a process that can't be started
 * is `started: false`. Who gets a box status closes it.
 */
export async function startProcess (plan: ProcessPlan, marks: Marks, mark: Mark | undefined, box?: Box): Promise<Start> {
  if (box !== undefined) return await startBoxed(plan, box)
  try {
    checkProgram(plan)
    const child = marks.apply(mark, () => spawnChild(plan, []))
    return await started(child, mark, undefined)
  } catch (error) {
    return { started: false, error: await startError(plan, error as NodeJS.ErrnoException) }
  }
}

/** What is wrong with the program is found out before: the box only tells that it could not be run. */
async function startBoxed (plan: ProcessPlan, box: Box): Promise<Start> {
  let entry: BoxEntry | undefined
  try {
    checkProgram(plan)
    accessSync(plan.program, constants.X_OK)
    if (!statSync(plan.program).isFile()) throw Object.assign(new Error('no file'), { code: 'EACCES' })
    entry = enterBox(box, plan)
    return await started(spawnChild(entry.plan, entry.descriptors), undefined, entry.status)
  } catch (error) {
    entry?.status.close()
    return { started: false, error: error instanceof BoxFault ? sandboxError(error.message) : await startError(plan, error as NodeJS.ErrnoException) }
  } finally {
    entry?.release()
  }
}

class BoxFault extends Error {}

function enterBox (box: Box, plan: ProcessPlan): BoxEntry {
  try {
    return box.enter(plan)
  } catch (error) {
    throw new BoxFault((error as Error).message)
  }
}

async function started (child: Child, mark: Mark | undefined, box: BoxStatus | undefined): Promise<Start> {
  child.on('error', () => {})
  if (child.pid === undefined) throw await startFailure(child)
  return { started: true, child, root: { pid: child.pid, started: readProcess(child.pid)?.started, mark }, box }
}

function checkProgram (plan: ProcessPlan): void {
  if (!hasProgramFormat(plan.program)) throw Object.assign(new Error('no program'), { code: 'ENOEXEC' })
}

function spawnChild (plan: ProcessPlan, descriptors: readonly number[]): Child {
  return spawn(plan.program, plan.args, {
    cwd: plan.cwd,
    // Node adds this variable from its own environment unless it finds it here.
    env: { NODE_V8_COVERAGE: undefined, ...plan.env },
    detached: true,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors]
  }) as Child
}

async function startFailure (child: Child): Promise<unknown> {
  const [error] = await once(child, 'error') as [unknown]
  // Without descriptors left, Node makes no streams, whatever its types say.
  for (const stream of (child.stdio as Child['stdio'] | undefined) ?? []) stream?.destroy()
  return error
}
