import { jsonOption, type Command } from '../terminal/command.ts'
import type { Check } from '../doctor/check.ts'
import { print } from '../terminal/terminal.ts'

const marks = { good: 'ok     ', warning: 'warning', error: 'ERROR  ' } as const

/** `toolyard doctor`: whether this machine and these settings can serve, and how well tools are shut in. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'Check Redis, the sandbox layer by layer, Python and the manifests',
  help: `Checks what a worker with these settings would find on this machine: Redis, each layer of the sandbox with a canary that must
fail to get through it, Python and the manifests. Settings are environment variables; .env in the working directory is read.

Exit status: 0 when nothing keeps it from serving (there may be warnings), 1 for an error.`,
  options: [jsonOption],
  run: async ({ options }) => {
    const { examine } = await import('../doctor/examine.ts')
    const checks = await examine()
    const ok = checks.every(({ verdict }) => verdict !== 'error')
    print(options['json'] === true ? JSON.stringify({ ok, checks }, null, 2) : table(checks))
    return ok ? 0 : 1
  }
}

function table (checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ subject }) => subject.length))
  return checks.map(({ subject, verdict, detail }) => `${marks[verdict]}  ${subject.padEnd(width)}  ${detail}`).join('\n')
}
