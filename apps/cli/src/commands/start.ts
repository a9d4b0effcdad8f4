import { followNpm } from '../supervision/npm-shell.ts'
import type { Command } from '../terminal/command.ts'

/** `toolyard start`: everything on one machine. */
export const start: Command = {
  name: 'start',
  summary: 'Run all of it on this machine: Redis, the HTTP service and a worker',
  help: `Runs an embedded Redis (unless REDIS_URL is set), the HTTP service and a worker, each a process of its own, until Ctrl-C
or SIGTERM. One that dies is started again.

Settings are environment variables; .env in the working directory is read. What it makes there when it is missing:
  .env               API_KEY=..., unless a key is configured or API_AUTH_DISABLED is set (mode 0600)
  workspace/         a copy of the sample workspace; elsewhere with WORKSPACE_DIR
  .toolyard/redis/   the data and the log of the embedded Redis
  .toolyard/logs/    api.log and worker.log: all that the two print. Warnings and errors show in the terminal too.

Without a Redis server program or bubblewrap on the PATH, they are installed with apt-get, dnf, apk (as root) or brew;
TOOLYARD_NO_INSTALL=1 switches that off.`,
  options: [['--strict', "tools don't run whose programs others than the owner may replace, as with PROGRAMS_STRICT=1"]],
  run: async ({ options }) => {
    if (options['strict'] === true) process.env['PROGRAMS_STRICT'] = '1'
    followNpm(process.env)
    const { runStart } = await import('../start/run-start.ts')
    return await runStart({ directory: process.cwd(), env: process.env })
  }
}
