import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { CallError } from '@toolyard/contract'
import type { Mark, Marks } from './mark.ts'
import type { ProcessPlan } from './plan.ts'
import { readProcess } from './process-table.ts'
import { hasProgramFormat } from './program-format.ts'
import { startError } from './start-error.ts'
import type { TreeRoot } from './tree.ts'

export type Child = ChildProcessByStdio<Writable, Readable, Readable>

export type Start =
  | { started: true, child: Child, root: TreeRoot }
  | { started: false, error: CallError }

/**
 * Starts a process as the leader of a session of its own, with three pipes and no other descriptor, no shell (A42) and
 * no variable that the plan doesn't name (A41). Never rejects: a process that can't be started is `started: false`.
 */
export async function startProcess (plan: ProcessPlan, marks: Marks, mark: Mark | undefined): Promise<Start> {
  try {
    if (!hasProgramFormat(plan.program)) throw Object.assign(new Error('no program'), { code: 'ENOEXEC' })
    const child = marks.apply(mark, () => spawnChild(plan))
    child.on('error', () => {})
    if (child.pid === undefined) throw await startFailure(child)
    return { started: true, child, root: { pid: child.pid, started: readProcess(child.pid)?.started, mark } }
  } catch (error) {
    return { started: false, error: await startError(plan, error as NodeJS.ErrnoException) }
  }
}

function spawnChild (plan: ProcessPlan): Child {
  return spawn(plan.program, plan.args, {
    cwd: plan.cwd,
    // Node adds this variable from its own environment unless it finds it here.
    env: { NODE_V8_COVERAGE: undefined, ...plan.env },
    detached: true,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe']
  })
}

async function startFailure (child: Child): Promise<unknown> {
  const [error] = await once(child, 'error') as [unknown]
  // Without descriptors left, Node makes no streams, whatever its types say.
  for (const stream of (child.stdio as Child['stdio'] | undefined) ?? []) stream?.destroy()
  return error
}
