import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'

/** How a container's process is run without a container. */
interface PlainCommand {
  name: string
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  check: readonly string[]
  logDir: string
}

export interface PlainService {
  child: ChildProcess
  output: () => string
  /** Sends a signal and waits for the end: the exit code, or the signal's name. */
  stop: (signal?: NodeJS.Signals) => Promise<number | string | null>
}

/** Starts a process and waits until its health check passes; the test's end stops it. */
export async function startPlain (t: Cleanup, command: PlainCommand): Promise<PlainService> {
  const { name, program, args, env, cwd, check: [checker = '', ...checkArgs], logDir } = command
  mkdirSync(cwd, { recursive: true })
  const logFile = join(logDir, `${name}.log`)
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', log, log] })
  closeSync(log)
  const output = (): string => readFileSync(logFile, 'utf8')
  const stop: PlainService['stop'] = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    }
    return child.exitCode ?? child.signalCode
  }
  t.teardown(() => stop('SIGKILL'))
  await waitFor(`${name} is healthy`, async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended:\n${output()}`)
    const probe = spawn(checker, checkArgs, { cwd, env, stdio: 'ignore' })
    const [code] = await once(probe, 'exit') as [number | null]
    // Each check is a process of its own, which takes its time from those that start.
    if (code !== 0) await delay(500)
    return code === 0
  }, 120_000).catch((error: unknown) => { throw new Error(`${String(error)}\n${output()}`) })
  return { child, output, stop }
}
