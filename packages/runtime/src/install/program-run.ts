import { execFile, type ChildProcess } from 'node:child_process'

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

/** How a program that was started has ended, or why it could not be started, in words. */
export function programEnd (child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.once('error', error => { resolve(error.message) })
    child.once('exit', (code, signal) => { resolve(signal === null ? `exit status ${code ?? 'unknown'}` : `signal ${signal}`) })
  })
}
