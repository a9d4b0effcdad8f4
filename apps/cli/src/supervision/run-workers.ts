import { once } from 'node:events'
import {
  createLogger, onAbort, openLogOutput, serveStatus, settingWarnings, sharedAbort, tellParent, type Settings
} from '@toolyard/runtime'
import { extraGraceMs } from './child.ts'
import { catchStopSignals } from './stop-signals.ts'
import { defaultBackoff, type Backoff } from './supervisor.ts'
import { startWorkers } from './workers.ts'

interface RunWorkersOptions {
  directory: string
  env: NodeJS.ProcessEnv
  settings: Settings
  entry: string
  backoff?: Backoff
}

/**
 * Runs `WORKER_PROCESSES` workers until SIGINT or SIGTERM; one that dies is started again. SIGHUP goes to all of them.
 * Their output goes to stdout.
 *
 * @returns 0, once all have stopped
 * @throws StartError when one can't start; nothing is left running then either.
 */
export async function runWorkers ({ directory, env, settings, entry, backoff = defaultBackoff }: RunWorkersOptions): Promise<number> {
  const output = await openLogOutput()
  const logger = createLogger('workers', settings.LOG_LEVEL, output)
  for (const warning of settingWarnings(env)) logger.warn(warning)
  const signals = catchStopSignals(['SIGINT', 'SIGTERM'])
  const end = sharedAbort()
  const giveUp = (): void => { end.abort() }
  onAbort(signals.stop, giveUp)
  if (process.connected === false) giveUp()
  process.once('disconnect', giveUp)
  const workers = startWorkers({
    count: settings.WORKER_PROCESSES,
    // Their own lines are in the output already.
    child: {
      entry, directory, env, log: output, warn: () => {}, graceMs: settings.SHUTDOWN_GRACE_SEC * 1_000 + extraGraceMs, force: signals.force
    },
    backoff,
    ending: end.signal,
    warn: line => { logger.warn(line) }
  })
  process.on('SIGHUP', () => { workers.signal('SIGHUP') })
  for (const start of workers.starts) start.catch(giveUp)
  let server: Awaited<ReturnType<typeof serveStatus>> | undefined
  try {
    server = settings.METRICS_PORT === undefined ? undefined : await serveStatus(workers.status, settings.HOST, settings.METRICS_PORT)
    await Promise.all(workers.starts)
    tellParent({ ready: true })
    if (!end.signal.aborted) await once(end.signal, 'abort')
  } catch (error) {
    // An error while it is told to stop comes of the stopping.
    if (!signals.stop.aborted) throw error
  } finally {
    end.abort()
    await workers.stop()
    await server?.close()
    // Who listens to its parent doesn't end by itself.
    process.off('disconnect', giveUp)
  }
  return 0
}
