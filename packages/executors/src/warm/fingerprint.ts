import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Box, identityOf, type Pins, maxElementBytes, type ProcessPlan } from '@toolyard/sandbox'

/**
 * Names everything that a process is made of: the box's own command line, with permissions, limits, environment and what
 * is hidden, and the identities of the program, of the files that its arguments name, and of its working directory. Two
 * processes of the same fingerprint differ only in their call. Undefined when the program isn't the pinned one.
 *
 * @throws Error when there can't be a box.
 */
export async function fingerprintOf (plan: ProcessPlan, box: Box, pins: Pins): Promise<string | undefined> {
  const pinned = plan.pin === undefined ? undefined : await pins.check(plan.pin)
  if (plan.pin !== undefined && pinned === undefined) return undefined
  const { program, args, env } = box.line(plan, pinned?.copy)
  const files = [plan.program, ...plan.args].filter(text => text.length < maxElementBytes && !text.includes('\0'))
  return JSON.stringify([program, args, env, whatIsAt(plan.cwd), ...files.map(file => whatIsAt(resolve(plan.cwd, file)))])
}

/** It says which directory it is, and nothing of what is in it. */
function whatIsAt (path: string): string {
  try {
    const found = statSync(path, { bigint: true })
    return found.isDirectory() ? `${found.dev}:${found.ino}` : identityOf(found)
  } catch {
    return ''
  }
}
