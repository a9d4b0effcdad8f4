/**
 * Rights of tools beyond computing: to see the workspace, change it, reach the network. The sandbox enforces them; the
 * table in docs/security.md says what each opens.
 */
export const permissions = ['read_repo', 'write_files', 'network'] as const
export type Permission = (typeof permissions)[number]

export interface PermissionPolicy {
  allowed: readonly Permission[]
  /** For tools whose manifest says nothing of permissions. */
  defaults: readonly Permission[]
  /** The hosts that tools may reach at all; absent: those that they name. */
  egress?: readonly string[]
  /** Those that tools may reach for a tenant; undefined: no other bound. */
  egressOf?: (tenant: string) => readonly string[] | undefined
}

/**
 * The permissions that a tool holds beyond what the deployment, and a key if it has a list of its own, allow. A tool with
 * any of these is not listed, and calling it is `FORBIDDEN`.
 */
export function permissionsBeyond (
  held: readonly Permission[] | undefined, policy: PermissionPolicy, ofKey?: readonly Permission[]
): Permission[] {
  return (held ?? policy.defaults).filter(permission => !policy.allowed.includes(permission) || ofKey?.includes(permission) === false)
}
