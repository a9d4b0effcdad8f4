import { orElse } from '@toolyard/contract/terms'
import { closeSync, readdirSync, readFileSync } from 'node:fs'

const closeOnExec = 0o2000000

/**
 * Closes what this process inherited from whoever started it, beside stdin, stdout and stderr, so that no tool inherits
 * it in turn. Everything that Node opens is closed by the kernel at `exec`, and so are inherited descriptors up to the
 * first gap above 15; the others would get through. Where there is no /proc, it does nothing.
 */
export function closeStrayDescriptors (): void {
  for (const fd of openDescriptors()) {
    if (fd > 2 && !isClosedOnExec(fd)) closeDescriptor(fd)
  }
}

function openDescriptors (): number[] {
  return orElse(() => readdirSync('/proc/self/fd').map(Number), [])
}

/** True as well for the descriptor of the listing itself, which is gone by now. */
function isClosedOnExec (fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0
  } catch {
    return true
  }
}

function closeDescriptor (fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // Closed by its owner in between.
  }
}
