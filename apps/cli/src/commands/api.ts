import { withSmallHeap } from '@toolyard/runtime/small-heap'
import { followNpm } from '../supervision/npm-shell.ts'
import type { Command } from '../terminal/command.ts'

/** `toolyard api`: the HTTP service alone. */
export const api: Command = {
  name: 'api',
  summary: 'Run the HTTP service alone, in the foreground',
  help: `Runs the HTTP service in the foreground, with its log on stdout. It runs no tool: there must be workers at
the same Redis. Settings are environment variables; .env in the working directory is read. REDIS_URL,
REDIS_SENTINELS or REDIS_CLUSTER_NODES must be set.`,
  options: [['--strict', "tools don't run whose programs others than the owner may replace, as with PROGRAMS_STRICT=1"]],
  serves: true,
  run: async ({ options }) => {
    if (options['strict'] === true) process.env['PROGRAMS_STRICT'] = '1'
    followNpm(process.env)
    const { loadEnvFile } = await import('@toolyard/runtime')
    loadEnvFile()
    await withSmallHeap(async () => {
      const { runApi } = await import('@toolyard/api')
      await runApi()
    })
    return 0
  }
}
