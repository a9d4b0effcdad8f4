import { withSmallHeap } from '@toolyard/runtime/small-heap'
import { followNpm } from '../supervision/npm-shell.ts'
import type { Command, CommandLine } from '../terminal/command.ts'

/** Options that stand for settings. */
const settingOf = { queues: 'WORKER_QUEUES', processes: 'WORKER_PROCESSES', concurrency: 'WORKER_CONCURRENCY', 'total-concurrency': 'WORKER_TOTAL_CONCURRENCY' } as const

/** `toolyard worker`: one worker process, or several. */
export const worker: Command = {
  name: 'worker',
  summary: 'Run one worker or several, in the foreground',
  help: `Runs workers in the foreground, with their log on stdout. Start as many as you like, on as many machines as
you like, at the same Redis. Settings are environment variables; .env in the working directory is read. REDIS_URL,
REDIS_SENTINELS or REDIS_CLUSTER_NODES must be set.

At SIGTERM or SIGINT no job is taken any more, and running calls may finish within SHUTDOWN_GRACE_SEC; a second signal
ends them at once. Either way all of them are settled. SIGHUP reads the manifests again.
With METRICS_PORT, /metrics, /health and /ready are served there, for all processes together.`,
  options: [
    ['--queues <names>', 'serve these queues alone, as a,b; * serves all (WORKER_QUEUES)'],
    ['--processes <n>', 'run so many processes, and start one again that dies (WORKER_PROCESSES)'],
    ['--concurrency <n>', 'calls of one queue that a process runs at once (WORKER_CONCURRENCY)'],
    ['--total-concurrency <n>', 'calls of all queues together that a process runs at once (WORKER_TOTAL_CONCURRENCY)'],
    ['--strict', "tools don't run whose programs others than the owner may replace (PROGRAMS_STRICT=1)"]
  ],
  serves: true,
  run: async given => {
    followNpm(process.env)
    const { loadEnvFile, readSettings } = await import('@toolyard/runtime')
    loadEnvFile()
    Object.assign(process.env, settingsOf(given), given.options['strict'] === true ? { PROGRAMS_STRICT: '1' } : {})
    const settings = readSettings(process.env)
    if (settings.WORKER_PROCESSES === 1) {
      await withSmallHeap(async () => {
        const { runWorker } = await import('@toolyard/worker')
        await runWorker()
      })
      return 0
    }
    const { findEntries } = await import('../start/entries.ts')
    const { runWorkers } = await import('../supervision/run-workers.ts')
    return await runWorkers({ directory: process.cwd(), env: process.env, settings, entry: findEntries().worker })
  }
}

function settingsOf ({ options }: CommandLine): Record<string, string> {
  return Object.fromEntries(Object.entries(settingOf).flatMap(([option, name]) => {
    const value = options[option]
    return typeof value === 'string' ? [[name, value]] : []
  }))
}
