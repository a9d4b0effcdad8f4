import { spawnSync } from 'node:child_process'

/** Whether this machine has a python3: tests of Python tools are skipped without one. */
export function hasPython (): boolean {
  return spawnSync('python3', ['-c', 'pass']).status === 0
}
