import { once } from 'node:events'
import { join } from 'node:path'
import { findRedisTarget, listenFailure, loadEnvFile, onAbort, settingWarnings, sharedAbort, type ListenPlace, type Settings } from '@toolyard/runtime'
import { ensureBubblewrap } from '@toolyard/runtime/install'
import { claim } from './claim.ts'
import { configure } from './configuration.ts'
import { greet } from './greeting.ts'
import { redisDirectory, startParts, type StopSteps } from './parts.ts'
import { findEntries, type Entries } from './entries.ts'
import { catchStopSignals, type StopSignals } from '../supervision/stop-signals.ts'
import { defaultBackoff, type Backoff } from '../supervision/supervisor.ts'
import { complain, print } from '../terminal/terminal.ts'
import { createServer } from 'node:net'
import { StartError } from '../supervision/start-error.ts'

const lastPort = 65_535

interface StartOptions {
  /** Where `.env` and `.toolyard/` are. */
  directory: string
  /** The process's environment; what `.env` says is added to it. */
  env: NodeJS.ProcessEnv
  /** Other programs in place of the HTTP service and the worker. */
  entries?: Entries
  backoff?: Backoff
}

/**
 * Runs Redis (unless the settings name one), the HTTP service and the workers until SIGINT, SIGTERM or SIGHUP; then stops the
 * service and the workers, and Redis last. Prints what a person wants to know.
 *
 * @returns 0, once everything has stopped
 * @throws StartError, SettingsError or RedisServerError when it can't start; nothing is left running then either.
 */
export async function runStart (options: StartOptions): Promise<number> {
  const giveBack = claim(join(options.directory, '.toolyard/start.json'))
  const signals = catchStopSignals()
  const steps: StopSteps = []
  try {
    await serve(options, signals, steps)
  } catch (error) {
    // An error while it is told to stop comes of the stopping.
    if (!signals.stop.aborted) throw error
  } finally {
    for (const stop of steps) await stop()
    giveBack()
  }
  return 0
}

/** Resolves when it is time to stop, or rejects; either way `steps` stop what runs. */
async function serve (options: StartOptions, signals: StopSignals, steps: StopSteps): Promise<void> {
  const { directory, env, entries = findEntries(), backoff = defaultBackoff } = options
  const end = sharedAbort()
  const ending = end.signal
  onAbort(signals.stop, () => { end.abort() })
  const envFile = join(directory, '.env')
  loadEnvFile(envFile)
  // Before the settings are read: a line that sets nothing may be why they are refused.
  for (const warning of settingWarnings(env, envFile)) complain(`warning: ${warning}`)
  const { settings, newKey, foundManifest } = await configure(directory, env)
  try {
    await checkPorts(settings)
    if (settings.SANDBOX !== 'off') await ensureBubblewrap({ env, say: print })
    const parts = { directory, env, settings, entries, backoff, ending, force: signals.force, warn: saidOnce(complain) }
    const { address, report } = await startParts(parts, steps, () => { end.abort() })
    print(greet({
      address,
      report,
      settings,
      directory,
      newKey,
      foundManifest,
      redisDirectory: findRedisTarget(settings) === undefined ? redisDirectory(directory) : undefined,
      keyFile: env['API_KEY_FILE']
    }))
    if (!ending.aborted) await once(ending, 'abort')
    print(`Stopping; running calls have ${settings.SHUTDOWN_GRACE_SEC} s to end ...`)
  } finally {
    end.abort()
  }
}

/**
 * Finds out early whether the addresses are free, while nothing has been started yet.
 *
 * @throws StartError with the remedy when one isn't.
 */
async function checkPorts ({ HOST: host, PORT: port, METRICS_PORT: metrics = 0 }: Settings): Promise<void> {
  await checkPort(host, port, 'PORT')
  if (metrics === 0) return
  const ports = [metrics, metrics + 1]
  if (ports.includes(port) || metrics === lastPort) {
    throw new StartError(`METRICS_PORT=${metrics} takes the ports ${ports.join(' and ')}, the second for the workers, and PORT is ${port}: choose another METRICS_PORT, such as ${port + 1}`)
  }
  for (const each of ports) await checkPort(host, each, 'METRICS_PORT')
}

function checkPort (host: string, port: number, setting: ListenPlace['setting']): Promise<void> {
  return new Promise((resolve, reject) => {
    const place = { host, port, setting, command: 'toolyard start' }
    const server = createServer()
    server.once('error', error => { reject(new StartError(listenFailure(error, place).message)) })
    server.listen({ host, port, exclusive: true }, () => { server.close(() => { resolve() }) })
  })
}

/** Parts that say the same within this time say it once, in milliseconds. */
const sameMs = 5_000
/** Texts that are remembered. */
const mostTexts = 1_000

/** The API and the workers read the same manifests and the same Redis, and find the same faults. */
function saidOnce (say: (line: string) => void): (line: string) => void {
  const said = new Map<string, { part: string, at: number }>()
  return line => {
    const [, part = '', text = line] = /^(?:\[[\d:.]+\] )?[A-Z]+ \(([\w-]+)\): (.*)$/s.exec(line) ?? []
    const before = said.get(text)
    const at = performance.now()
    if (before !== undefined && before.part !== part && at - before.at < sameMs) return
    if (said.size >= mostTexts) said.clear()
    said.set(text, { part, at })
    say(line)
  }
}
