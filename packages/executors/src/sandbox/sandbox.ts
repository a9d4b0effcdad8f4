import type { Permission } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import { dirname, join } from 'node:path'
import type { Box } from '../process/box.ts'
import { createBox } from './box.ts'
import { findBubblewrap } from './bubblewrap.ts'
import { closeFoundation, makeFoundation, type BoxFoundation, type FoundationOptions } from './foundation.ts'
import { defaultLimits } from './limits.ts'
import { isWithin } from './path.ts'
import { probeBox } from './probe/probe.ts'
import { reportOf, type SandboxReport } from './report.ts'

/** What `SANDBOX` may say: refuse to start without the whole box, take what there is, or use none. */
export type SandboxMode = 'require' | 'auto' | 'off'

/** What a sandbox is opened with. */
export interface SandboxOptions extends FoundationOptions {
  mode: SandboxMode
  /** What tools hold whose manifest says nothing of permissions. */
  defaultPermissions: readonly Permission[]
}

/** The sandbox of one worker. */
export interface Sandbox {
  report: SandboxReport
  /** The box for the processes of a tool; undefined when tools run in the open. */
  boxOf (tool: Tool): Box | undefined
  permissionsOf (tool: Tool): readonly Permission[]
  /** How well the processes of a tool are shut in. */
  levelOf (tool: Tool): SandboxReport['level']
  /** Why a tool may not run here; undefined when it may. */
  refusalOf (tool: Tool): string | undefined
  /** To be called when no tool runs any more. */
  close (): void
}

/** Thrown when the sandbox that `SANDBOX=require` asks for can't be had; the message says what is missing. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/**
 * Opens the sandbox and proves each of its layers with a canary that must fail.
 *
 * @throws SandboxError in mode `require` when a layer is missing (fault 18).
 */
export async function openSandbox (options: SandboxOptions): Promise<Sandbox> {
  const { foundation, report } = options.mode === 'off' ? { foundation: undefined, report: reportOf(undefined) } : await openFoundation(options)
  let open = foundation !== undefined
  const close = (): void => {
    if (open && foundation !== undefined) closeFoundation(foundation)
    open = false
  }
  if (options.mode === 'require' && report.level !== 'full') {
    close()
    throw new SandboxError(`SANDBOX=require, but these layers do not hold: ${report.missing.join(', ')}. ${report.advice}`)
  }
  const permissionsOf = (tool: Tool): readonly Permission[] => tool.permissions ?? options.defaultPermissions
  return {
    report,
    boxOf (tool) {
      if (foundation === undefined || !isBoxed(tool)) return undefined
      return createBox(foundation, { permissions: permissionsOf(tool), readable: readableOf(tool), limits: { ...defaultLimits, ...tool.limits } })
    },
    permissionsOf,
    levelOf: tool => isBoxed(tool) ? report.level : 'none',
    refusalOf: tool => options.mode === 'require' && tool.run.kind === 'python' ? 'Python tools run in the open, and SANDBOX=require does not allow that' : undefined,
    close
  }
}

/** The warm hosts of Python tools serve many calls and run in the open; of the built-in tools one alone starts processes. */
function isBoxed ({ run, jobType }: Tool): boolean {
  return run.kind === 'command' || run.kind === 'skill' || (run.kind === 'builtin' && jobType === 'tool.exec')
}

/** Without a box that runs at all, there is nothing to keep. */
async function openFoundation (options: SandboxOptions): Promise<{ foundation: BoxFoundation | undefined, report: SandboxReport }> {
  const bubblewrap = await findBubblewrap(options.env)
  if (bubblewrap === undefined) {
    return { foundation: undefined, report: reportOf([{ layer: 'bubblewrap', holds: false, detail: 'there is no bwrap on the PATH' }]) }
  }
  // A kernel or container may refuse what the program knows; the seccomp filter refuses user namespaces as well.
  const variants = bubblewrap.disableUserns ? [bubblewrap, { ...bubblewrap, disableUserns: false }] : [bubblewrap]
  let report = reportOf([])
  for (const variant of variants) {
    const foundation = makeFoundation(variant, options)
    report = reportOf(await probeBox(foundation, options.env))
    if (report.level !== 'none') return { foundation, report }
    closeFoundation(foundation)
  }
  return { foundation: undefined, report }
}

/** A manifest's `tools/` beside it, or the whole directory of a skill: what a tool's program may need of its own. */
function readableOf ({ source, run }: Tool): string[] {
  const directory = dirname(source.file)
  if (source.format === 'skill') return [directory]
  const tools = join(directory, 'tools')
  return run.kind === 'command' && isWithin(run.program, tools) ? [tools] : []
}
