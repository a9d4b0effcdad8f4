import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openSandbox, type ExecutorLogger } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import type { Test } from 'tap'
import { everyWarm } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'
import { createFixture, makePlace, type Fixture, type FixtureOptions, type KeptReady } from './fixture.ts'

/** The fixture of commands, in a box where the machine has one; with TOOLYARD_TEST_WARM each is kept ready before its call. */
export async function createCommandFixture (t: Test, options: FixtureOptions = {}): Promise<Fixture> {
  const place = makePlace()
  const sandbox = await openSandbox({
    mode: 'auto', env: options.env ?? process.env, workspaceDir: place.workspace, hidden: [], defaultPermissions: ['read_repo', 'write_files']
  })
  return createFixture(t, { ...options, boxed: { place, sandbox }, ...everyWarm && { keptReady: keeper(options.logger) } })
}

const factsOf = (pid: string): string => `echo "$(cut -d " " -f 1,22 /proc/${pid}/stat) $(readlink /proc/${pid}/ns/pid)"`

/**
 * Run by a shell, it writes which process it is, or its last child: its pid, as it sees it, its start, which a box doesn't change,
 * and the namespace of the pid: first processes of two boxes may start at the same moment.
 */
export const self = factsOf('$$')
export const child = factsOf('$!')

export function isWritten (fixture: Fixture, name: string): boolean {
  const file = join(fixture.workspace, name)
  return existsSync(file) && readFileSync(file, 'utf8') !== ''
}

/** Whether the processes live that tools wrote to files of these names. */
export function areAlive (fixture: Fixture, ...names: string[]): boolean[] {
  const written = names.flatMap(name => readFileSync(join(fixture.workspace, name), 'utf8').trimEnd().split('\n'))
  for (const line of written) if (!/^\d+ \d+ pid:\[\d+\]$/.test(line)) throw new Error(`that is no process: ${JSON.stringify(line)}`)
  const living = new Set(readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(livingProcess))
  return written.map(line => living.has(line))
}

/** The line that a process would have written; undefined for one that is gone, or merely waits to be reaped. */
function livingProcess (pid: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = 'X', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const seenPid = /^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return 'ZX'.includes(state) ? undefined : `${seenPid} ${fields[18]} ${readlinkSync(`/proc/${pid}/ns/pid`)}`
  } catch {
    return undefined
  }
}

/** Keeps the tool of each call ready from before its start to its end. */
function keeper (logger: ExecutorLogger | undefined): KeptReady {
  const called = new Map<string, Tool>()
  const unfit = new Set<unknown>()
  return {
    logger: {
      warn (fields, message) {
        if (message.includes('warm') && 'tool' in fields) unfit.add(fields.tool)
        logger?.warn(fields, message)
      }
    },
    async call (executors, tool, run) {
      // Calls at the same time have tools of different names; the first has its own.
      const isAlone = called.size === 0
      const named = { ...tool, warm: 1, ...isAlone ? {} : { name: `${tool.name}-${process.hrtime.bigint()}` } }
      called.set(named.name, named)
      unfit.delete(named.name)
      executors.keep([...called.values()])
      try {
        // Beside other calls there may be no processor for it.
        if (isAlone) await waitFor('a process waits, or none can', () => executors.waiting(named.name) > 0 || unfit.has(named.name))
        return await run(named)
      } finally {
        called.delete(named.name)
        executors.keep([...called.values()])
      }
    }
  }
}
