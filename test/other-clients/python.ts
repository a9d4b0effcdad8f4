import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Why the Python client can't be tested here; false where it can. */
export const withoutPython: string | false = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0
  ? false
  : 'there is no Python 3.10 or newer'

/** Runs a program of `test/other-clients/programs` with the Python client, and gives what it printed. */
export async function runPython (program: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('python3', [`${root}/test/other-clients/programs/${program}`, ...args], {
    env: { ...process.env, PYTHONPATH: `${root}/clients/python`, PYTHONDONTWRITEBYTECODE: '1', ...env }
  })
  return stdout
}
