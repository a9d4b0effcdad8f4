import { execFile } from 'node:child_process'

export interface ProgramResult {
  ok: boolean
  /** Both output streams, stdout first. */
  output: string
}

/** Runs a program to its end with nothing on stdin; a failure of any kind is `ok: false`. `timeoutMs` kills it. */
export function runProgram (file: string, args: string[], env: NodeJS.ProcessEnv, timeoutMs: number): Promise<ProgramResult> {
  return new Promise(resolve => {
    const child = execFile(file, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const reason = error !== null && stdout === '' && stderr === '' ? error.message : ''
      resolve({ ok: error === null, output: `${stdout}${stderr}${reason}` })
    })
    child.stdin?.end()
  })
}
