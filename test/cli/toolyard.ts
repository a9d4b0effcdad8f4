import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

export const checkedOutProgram = fileURLToPath(new URL('../../../apps/cli/bin/toolyard.js', import.meta.url))
const programs = process.env['TOOLYARD_TEST_PROGRAMS']
/** `npm test` has it in few files, which start sooner (test/runner/bundle.ts). */
export const toolyardProgram = programs === undefined ? checkedOutProgram : join(programs, '../bin/toolyard.js')

/** Runs `toolyard` with none of the settings of whoever runs the tests. */
export function runToolyard (args: readonly string[], { cwd, env = {}, input = '' }: { cwd?: string, env?: NodeJS.ProcessEnv, input?: string } = {}): Promise<Ran> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [toolyardProgram, ...args], { cwd, env: { PATH: process.env['PATH'], ...env } })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', chunk => { texts[name] += String(chunk) })
    child.once('close', status => { resolve({ status, ...texts }) })
    child.stdin.once('error', () => {}).end(input)
  })
}
