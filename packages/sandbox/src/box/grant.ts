import type { Permission } from '@toolyard/contract'
import type { Launcher } from '../process/launch/child.ts'
import type { ProcessPlan } from '../process/plan/plan.ts'
import type { ProcessLimits } from './limits.ts'

/** For one tool's processes. */
export interface Grant {
  permissions: readonly Permission[]
  /** Directories and files that they may read, beside the system and their own program; absolute paths. */
  readable: readonly string[]
  limits: ProcessLimits
  /** The network that the box shares; absent: the machine's with the permission `network`, else none. */
  network?: BoxNetwork
  /** Unix sockets, which a box that shares the machine's network never has: abstract names would lead out of it. */
  unixSockets?: boolean
}

/** A network namespace with nothing but a loopback, on which the worker listens. */
export interface BoxNetwork {
  /** Boxes with different keys must not share a host of Python tools. */
  key: string
  launcher: Launcher
  /** A command line that runs what follows it in there. */
  enter: readonly string[]
  /** The file that becomes /etc/hosts. */
  hostsFile: string
  /** A file of certificates that becomes `certificatesPlace`, which the variables name; absent: those of the system alone. */
  certificates?: string
  /** For the environment of one call's processes. */
  variables: Readonly<Record<string, string>>
}

export function planInNetwork (plan: ProcessPlan, network: BoxNetwork | undefined): ProcessPlan {
  return network === undefined ? plan : { ...plan, env: { ...plan.env, ...network.variables } }
}

/** The same for code outside a call: it needs no network, and no caller sees what it does. */
export function withoutNetwork (grant: Grant): Grant {
  return { ...grant, permissions: grant.permissions.filter(permission => permission !== 'network') }
}
