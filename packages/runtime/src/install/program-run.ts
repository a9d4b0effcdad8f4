import { execFile, type ChildProcess } from 'node:child_process'

interface ProgramResult {
  ok: boolean
  /** Both output streams, stdout first. */
  output: string
}

/** A program of the machine gets these of an environment: where things are, and how to reach the network. */
const told = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR', ...['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap(name => [name, name.toUpperCase()])]

/**
 * Runs a program to its end with nothing on stdin; a failure of any kind is `ok: false`. `timeoutMs` kills it. Of `env` it
 * gets no secret of the service, and `added` as it is.
 */
export function runProgram (
  file: string, args: string[], env: NodeJS.ProcessEnv, timeoutMs: number, added: NodeJS.ProcessEnv = {}
): Promise<ProgramResult> {
  return new Promise(resolve => {
    const known = Object.fromEntries(told.flatMap(name => env[name] === undefined ? [] : [[name, env[name]]]))
    const child = execFile(file, args, { env: { ...known, ...added }, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
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
