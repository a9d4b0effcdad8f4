import type { StatusSource } from '@toolyard/runtime'
import { launchChild, type ChildOptions, type ReadyChild } from './child.ts'
import { supervise, type Supervised, type SupervisorOptions } from './supervisor.ts'

interface WorkersOptions extends SupervisorOptions {
  count: number
  child: Omit<ChildOptions, 'name'>
}

export interface Workers {
  /** One for each; rejects when that one can't start. */
  starts: ReadonlyArray<Promise<Supervised<ReadyChild>>>
  /** Stops them all; to be called when `ending` is aborted. */
  stop: () => Promise<void>
  /** Of all together: ready when all are; their metrics as one. */
  status: StatusSource
  /** Sends a signal to those that run now. */
  signal: (signal: NodeJS.Signals) => void
}

interface WorkerStatus {
  ready: Awaited<ReturnType<StatusSource['readiness']>>
  metrics: object[]
}

/** Starts worker processes: one is called `worker`, several are numbered. */
export function startWorkers (options: WorkersOptions): Workers {
  const { count, child, ending } = options
  const names = Array.from({ length: count }, (_, index) => count === 1 ? 'worker' : `worker-${index + 1}`)
  // A port can be listened on once, so that the processes tell their status to this one.
  const isCounted = [child.env['METRICS_PORT'], child.env['METRICS_PORT_FILE']].some(value => value !== undefined && value.trim() !== '')
  const env = { ...child.env, WORKER_PROCESSES: String(count), TOOLYARD_COUNT: isCounted ? '1' : '0', METRICS_PORT: '', METRICS_PORT_FILE: '' }
  const starts = names.map(name => supervise({ name, launch: signal => launchChild({ ...child, env, name }, signal) }, options))
  const running: Array<Supervised<ReadyChild> | undefined> = names.map(() => undefined)
  for (const [index, start] of starts.entries()) start.then(supervised => { running[index] = supervised }, () => {})
  const ask = async (): Promise<Array<WorkerStatus | undefined>> => (
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Workers of this release answer.
    await Promise.all(running.map(async supervised => await supervised?.current()?.ask('status') as WorkerStatus | undefined))
  )
  return {
    starts,
    stop: async () => { await Promise.all(starts.map(start => start.then(({ stop }) => stop(), () => undefined))) },
    signal: signal => { for (const supervised of running) supervised?.current()?.signal(signal) },
    status: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      metrics: async () => await (await import('@toolyard/runtime/metrics')).mergeMetrics((await ask()).flatMap(status => status === undefined ? [] : [status.metrics])),
      readiness: async () => {
        const found = await ask()
        const checks = Object.fromEntries(names.map((name, index) => [name, summarize(found[index])]))
        const all = ending.aborted ? { running: { ok: false, detail: 'the workers are stopping' }, ...checks } : checks
        return { ok: Object.values(all).every(({ ok }) => ok), checks: all }
      }
    }
  }
}

function summarize (status: WorkerStatus | undefined): { ok: boolean, detail?: string } {
  if (status === undefined) return { ok: false, detail: 'it does not run, or does not answer' }
  const details = Object.entries(status.ready.checks).flatMap(([name, { ok, detail }]) => detail === undefined && ok ? [] : [`${name}: ${detail ?? 'bad'}`])
  return { ok: status.ready.ok, ...(details.length === 0 ? {} : { detail: details.join('; ') }) }
}
