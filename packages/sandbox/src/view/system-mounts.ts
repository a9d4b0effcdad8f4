import { readlinkSync } from 'node:fs'
import { kindOf } from './path.ts'

/** Directories of the system that every process may read; all else of it does not exist in the box. */
export const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'] as const

/** With the `network` permission: where names are resolved and certificates are checked. They may change while a worker runs. */
const certificates = ['/etc/ssl/certs', '/etc/pki/tls/certs', '/etc/pki/ca-trust'] as const
const networkFiles = ['/etc/resolv.conf', '/etc/hosts', ...certificates] as const

/** Shown in every box. */
export interface SystemPlaces {
  /** bubblewrap's arguments for links such as /bin, which stay links. */
  links: readonly string[]
  directories: readonly string[]
}

/** Looks what this machine has of the system's directories. */
export function systemPlaces (): SystemPlaces {
  return {
    links: systemDirectories.flatMap(path => kindOf(path) === 'link' ? ['--symlink', readlinkSync(path), path] : []),
    directories: systemDirectories.filter(path => kindOf(path) === 'directory')
  }
}

/** For a process that checks who answers, where names are the worker's to resolve. */
export function certificatePlaces (): string[] {
  return certificates.filter(path => kindOf(path) !== 'none')
}

/** Files of /etc for a process with network, on top of the box's own. */
export function networkPlaces (): string[] {
  return networkFiles.filter(path => kindOf(path) !== 'none')
}
