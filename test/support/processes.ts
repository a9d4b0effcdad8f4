import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An API or worker process as an operator would run it. */
export interface AppProcess {
  child: ChildProcess
  /** Where an API listens. */
  address: string
  /** Everything that it has printed. */
  output: () => Promise<string>
  /** Sends a signal and waits for the end; the exit code, or the signal's name. */
  stop: (signal?: NodeJS.Signals) => Promise<number | string | null>
}

export type AppName = 'api' | 'worker'

/**
 * Starts one process of an app and waits until it serves; fails with what it printed when it doesn't.
 *
 * @param program the app's program; another one than this checkout's for another release
 */
export async function startApp (name: AppName, cwd: string, env: NodeJS.ProcessEnv, program = programOf(name)): Promise<AppProcess> {
  const logFile = join(cwd, `${name}-${process.hrtime.bigint()}.log`)
  const log = createWriteStream(logFile)
  await once(log, 'open')
  const child = fork(program, [], { cwd, env, execArgv: [], stdio: ['ignore', log, log, 'ipc'] })
  const output = async (): Promise<string> => await readFile(logFile, 'utf8')
  const ready = await Promise.race([
    once(child, 'message').then(([message]) => message as { address?: string }),
    once(child, 'exit').then(async ([code]) => { throw new Error(`${name} ended with ${String(code)}:\n${await output()}`) })
  ])
  return {
    child,
    address: ready.address ?? '',
    output,
    stop: async (signal = 'SIGTERM') => {
      log.destroy()
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode
      const exited = once(child, 'exit')
      child.kill(signal)
      // One that a test has stopped couldn't hear it.
      child.kill('SIGCONT')
      const [code, killedBy] = await exited as [number | null, string | null]
      return code ?? killedBy
    }
  }
}

/** `npm test` has the programs in one file each, which starts sooner (test/runner/bundle.ts). */
function programOf (name: AppName): string {
  const bundle = process.env['TOOLYARD_TEST_PROGRAMS']
  if (bundle !== undefined) return join(bundle, `${name}.js`)
  return fileURLToPath(import.meta.resolve(`@toolyard/${name}`)).replace(/index\.js$/, 'server.js')
}
