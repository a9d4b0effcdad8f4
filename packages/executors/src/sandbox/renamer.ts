import { execFile } from 'node:child_process'
import { findOnPath } from '../process/plan/find-program.ts'
import type { Renamer } from '../process/plan/own-name.ts'

const helpTimeoutMs = 5_000

/** Finds what can run a program under another name: env(1) of coreutils 9.5, else Perl, which takes 1.5 ms. */
export async function findRenamer (env: NodeJS.ProcessEnv): Promise<Renamer> {
  const [envProgram, perl] = ['env', 'perl'].map(name => findOnPath(name, env['PATH']))
  if (envProgram !== undefined && await knowsNames(envProgram)) {
    // It would take such a program for a variable.
    return (program, name) => program.includes('=') ? [program] : [envProgram, `--argv0=${name}`, program]
  }
  return perl === undefined ? undefined : (program, name) => [perl, '-e', 'exec {shift} @ARGV; exit 127', program, name]
}

async function knowsNames (program: string): Promise<boolean> {
  return await new Promise(resolve => {
    execFile(program, ['--help'], { env: {}, timeout: helpTimeoutMs }, (error, stdout) => { resolve(error === null && stdout.includes('--argv0')) })
  })
}
