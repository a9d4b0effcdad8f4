import { readlinkSync } from 'node:fs'
import { kindOf } from './path.ts'

/** Directories of the system that every process may read; all else of it does not exist in the box. */
export const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'] as const

/** With the `network` permission: where names are resolved and certificates are checked. They may change while a worker runs. */
const networkFiles = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs', '/etc/pki/tls/certs', '/etc/pki/ca-trust'] as const

/** bubblewrap's arguments for the system: read-only, directory by directory; links such as /bin stay links. */
export function systemMounts (): string[] {
  return systemDirectories.flatMap(path => {
    switch (kindOf(path)) {
      case 'link': return ['--symlink', readlinkSync(path), path]
      case 'directory': return ['--ro-bind', path, path]
      default: return []
    }
  })
}

/** bubblewrap's arguments for what a process with network needs of /etc, on top of the box's own. */
export function networkMounts (): string[] {
  return networkFiles.filter(path => kindOf(path) !== 'none').flatMap(path => ['--ro-bind-try', path, path])
}
