import type { Command } from '../command.ts'

/** `toolyard api`: the HTTP service alone. */
export const api: Command = {
  name: 'api',
  summary: 'Run the HTTP service alone, in the foreground',
  help: `Usage: toolyard api

Runs the HTTP service in the foreground, with its log as JSON lines on stdout. It runs no tool: there must be workers at
the same Redis. Settings are environment variables; .env in the working directory is read. REDIS_URL must be set.`,
  run: async () => {
    const { loadEnvFile } = await import('@toolyard/runtime')
    loadEnvFile()
    const { runApi } = await import('@toolyard/api')
    await runApi()
    return 0
  }
}
