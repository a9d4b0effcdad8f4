import type { Permission, SandboxState } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import type { Box, BoxNetwork, ProcessGroups, HelperPlace, ToolGroupLimits, FoundationOptions, HostBox, Launcher, SandboxReport } from '@toolyard/sandbox'
import type { SessionPlace } from './outcome.ts'

/** Refuse to start without the whole box, take what there is, or use none. */
type SandboxMode = 'require' | 'auto' | 'off'

export interface SandboxOptions extends FoundationOptions {
  mode: SandboxMode
  /** For tools whose manifest says nothing of permissions. */
  defaultPermissions: readonly Permission[]
  /** Whether there are Python tools, so that their box is to be proved as well; default false. */
  python?: boolean
  /** Whether there are tools that name their hosts: networks are proved now, and not by the first call in one; default false. */
  networks?: boolean
  /** Limits of all tools of the worker together, where there are control groups. So many `workers` share the memory in equal parts. */
  groups?: Pick<ToolGroupLimits, 'processes' | 'onEnded'> & { workers: number }
}

/** How the sandbox makes networks. */
export interface NetworkMeans {
  /** Where a helper runs that has a network of its own; undefined where that can't be had. */
  placeOf (network: NonNullable<HelperPlace['network']>): HelperPlace | undefined
  /** A command line that runs what follows it in the network of a process. */
  enter (owner: number): readonly string[]
  directory: string
  /** Proves once, with a canary, that nothing leaves a network but to the hosts of its list; gives what it could do where that isn't so. */
  prove (): Promise<string | undefined>
}

export interface Sandbox {
  report: SandboxReport
  /** Bound the processes of tools together; undefined without boxes, or control groups that this process may write to. */
  groups: ProcessGroups | undefined
  /** The box for a tool's processes, with the directory of a session for the workspace; undefined when tools run in the open. */
  boxOf (tool: Tool, session?: SessionPlace, network?: BoxNetwork): Box | undefined
  /** The box of a command that has no permissions; undefined when tools run in the open. */
  plainBox: Box | undefined
  /** The box for the host of a Python tool; undefined when it runs in the open. */
  hostBoxOf (tool: Tool, network?: BoxNetwork): HostBox | undefined
  /** The same for a trial import of its module and class: without network, whatever the tool's permissions. */
  tryBoxOf (tool: Tool): HostBox | undefined
  /** How networks for tools that name their hosts are made; undefined without boxes. */
  networks: NetworkMeans | undefined
  permissionsOf (tool: Tool): readonly Permission[]
  /** Starts boxes; undefined without boxes. */
  launcher: Launcher | undefined
  /** How well the processes of a tool are shut in. */
  levelOf (tool: Tool): SandboxReport['level']
  /** The same, with what is missing; undefined for a tool that runs no process. */
  stateOf (tool: Tool): SandboxState | undefined
  /** To be called when no tool runs any more. */
  close (): void
}

/** Thrown when the sandbox that `SANDBOX=require` asks for can't be had; the message says what is missing. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}
