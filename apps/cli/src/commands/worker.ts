import type { Command } from '../command.ts'

/** `toolyard worker`: one worker process. */
export const worker: Command = {
  name: 'worker',
  summary: 'Run one worker, in the foreground',
  help: `Usage: toolyard worker

Runs one worker in the foreground, with its log as JSON lines on stdout. Start as many as you like, on as many machines as
you like, at the same Redis. Settings are environment variables; .env in the working directory is read.
REDIS_URL must be set.`,
  run: async () => {
    const { loadEnvFile } = await import('@toolyard/runtime')
    loadEnvFile()
    const { runWorker } = await import('@toolyard/worker')
    await runWorker()
    return 0
  }
}
