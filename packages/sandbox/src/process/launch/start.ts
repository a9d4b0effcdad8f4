import { accessSync, constants, statSync } from 'node:fs'
import type { CallError } from '@toolyard/contract'
import type { Box, BoxEntry, BoxStatus } from '../plan/box.ts'
import { killDescendants, startOpen } from './open.ts'
import type { CallGroup } from '../table/groups.ts'
import { isLauncher, type Child, type Launcher, type LaunchRequest } from './child.ts'
import { namedProgram } from '../plan/own-name.ts'
import type { Pinned, Pins } from '../plan/pins.ts'
import type { ProcessPlan } from '../plan/plan.ts'
import { hasProgramFormat } from '../plan/program-format.ts'
import { boxError, startError } from '../plan/start-error.ts'

export interface Started {
  started: true
  child: Child
  box: BoxStatus | undefined
}

export type Start = Started | { started: false, error: CallError }

export interface StartHost {
  launcher: Launcher
  pins: Pins
  /** Shuts in every process of the tool; without it they run in the open. */
  box?: Box | undefined
  /** Bounds a boxed call as a whole; the caller removes it. */
  group?: CallGroup | undefined
  /** Of processes in the open: a command line that runs what follows it under the tool's own limits. */
  limit?: readonly string[] | undefined
}

interface StartInput {
  /** Read from stdin, until EOF; undefined: it stays open for writing. */
  stdin: string | undefined
  /** As in LaunchRequest; without effect in the open. */
  hold?: true | undefined
  interrupted?: LaunchRequest['interrupted']
  /** The box is made ahead; it needs one where something can wait. */
  ahead?: true | undefined
}

/**
 * Starts a process as the leader of a session of its own, with three pipes and no other descriptor, no shell and
 * no variable that the plan doesn't name; in a box if there is one. Never rejects: a process that can't be started
 * is `started: false`. Who gets a box status closes it.
 */
export async function startProcess (
  plan: ProcessPlan, { launcher, pins, box, limit, group }: StartHost, { stdin, hold, interrupted, ahead }: StartInput
): Promise<Start> {
  if (box !== undefined) return await startBoxed(plan, box, { launcher, pins, stdin, hold, interrupted, ahead, group })
  try {
    const pinned = await checkPin(plan, pins)
    checkProgram(plan)
    const child = await startOpen(limitedPlan(plan, limit), stdin)
    if (pinned !== undefined && !await pinned.isUnchanged()) {
      await killDescendants(child.pid)
      child.release()
      throw otherThanPinned()
    }
    return { started: true, child, box: undefined }
  } catch (error) {
    return { started: false, error: await startError(plan, error) }
  }
}

type BoxedHost = Pick<StartHost, 'launcher' | 'pins' | 'group'>

/** Faults of the program are found before: the box only tells that it could not be run. */
async function startBoxed (
  plan: ProcessPlan, box: Box, { launcher, pins, group, stdin, hold, interrupted, ahead }: BoxedHost & StartInput
): Promise<Start> {
  let entry: BoxEntry | undefined
  try {
    const pinned = await checkPin(plan, pins)
    // A process that waits in a box is told its program later.
    if (ahead !== true) checkStartable(plan)
    entry = enterBox(box, plan, { pinned: pinned?.copy, ahead })
    const child = await launcherOf(entry, launcher).launch({ plan: entry.plan, stdin, files: entry.files, hold, group, interrupted, ahead })
    entry.status.started()
    return { started: true, child, box: entry.status }
  } catch (error) {
    entry?.status.close()
    return { started: false, error: error instanceof BoxFault ? await boxError(plan, error.cause) : await startError(plan, error) }
  }
}

/** A box in a network of its own is never started anywhere else: it would have that place's network. */
function launcherOf ({ launcher: own }: BoxEntry, launcher: Launcher): Launcher {
  if (own === undefined) return launcher
  if (!isLauncher(own)) throw new Error('A box names what is no launcher')
  return own
}

class BoxFault extends Error {}

/** @throws what the kernel would say of the plan's program, as far as that is seen from outside. */
export function checkStartable (plan: ProcessPlan): void {
  checkProgram(plan)
  checkExecutable(plan)
}

function enterBox (box: Box, plan: ProcessPlan, { pinned, ahead }: { pinned: string | undefined, ahead: true | undefined }): BoxEntry {
  try {
    if (ahead !== true) return box.enter(plan, pinned)
    if (box.enterAhead === undefined) throw new Error('nothing can wait in it')
    return box.enterAhead(plan, pinned)
  } catch (error) {
    throw new BoxFault('no box', { cause: error })
  }
}

/** The program that sets the limits only tells that it could not go on. */
export function limitedPlan (plan: ProcessPlan, limit: readonly string[] | undefined): ProcessPlan {
  const [program, ...args] = limit ?? []
  if (program === undefined) return plan
  checkExecutable(plan)
  const { env, cwd, handed } = plan
  return { program, args: [...args, ...namedProgram(plan, undefined), ...plan.args], env, cwd, ...handed && { handed } }
}

function checkExecutable (plan: ProcessPlan): void {
  accessSync(plan.program, constants.X_OK)
  if (!statSync(plan.program).isFile()) throw Object.assign(new Error('no file'), { code: 'EACCES' })
}

async function checkPin ({ pin }: ProcessPlan, pins: Pins): Promise<Pinned | undefined> {
  if (pin === undefined) return undefined
  const pinned = await pins.check(pin)
  if (pinned === undefined) throw otherThanPinned()
  return pinned
}

function otherThanPinned (): Error {
  return Object.assign(new Error('other than pinned'), { code: 'EPINNED' })
}

function checkProgram (plan: ProcessPlan): void {
  if (!hasProgramFormat(plan.program)) throw Object.assign(new Error('no program'), { code: 'ENOEXEC' })
}
