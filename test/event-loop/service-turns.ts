import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import type { AppProcess } from '../support/processes.ts'
import type { Turn } from './turn.ts'
import { boundMs, onUsualMachine } from './usual-machine.ts'

const runs = 5

/** Environment of a service whose processes measure their turns. */
export function turnEnvironment (): Record<string, string> {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-turns-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  return { NODE_OPTIONS: `--import=${new URL('./turn-probe.js', import.meta.url).href}`, TURN_FILE: join(dir, 'turn'), LOG_LEVEL: 'error' }
}

/**
 * Makes the function that fails when a request holds up the API or a worker for more than 50 ms in each of five runs.
 *
 * @param env what `turnEnvironment` gave.
 */
export function turnsOf ({ api, workers }: { api: AppProcess, workers: readonly AppProcess[] }, env: Record<string, string>) {
  const processes = [api, ...workers]

  return async (t: Test, what: string, request: () => Promise<unknown>): Promise<void> => {
    const turns: number[] = []
    // Of the API and of each worker, for who looks into a failure.
    const each: Turn[][] = []
    while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) {
      await Promise.all(processes.map(process => turnOf(process, env)))
      await request()
      const now = await Promise.all(processes.map(process => turnOf(process, env)))
      each.push(now)
      turns.push(Math.max(...now.map(onUsualMachine)))
    }
    t.ok((turns.at(-1) ?? Infinity) <= boundMs, `${what}: ${Math.round(Math.min(...turns))} ms in one turn of the event loop`, { each })
  }
}

/**
 * Fails when what a process does for the first time takes more than 50 ms of its event loop in each of five processes.
 *
 * @param start starts a process that has done nothing yet.
 */
export async function firstTurnIsShort (
  t: Test,
  what: string,
  { start, env }: { start: () => Promise<AppProcess>, env: Record<string, string> },
  first: (fresh: AppProcess) => Promise<unknown>
): Promise<void> {
  const turns: number[] = []
  while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) {
    const fresh = await start()
    await turnOf(fresh, env)
    await first(fresh)
    turns.push(Math.round(onUsualMachine(await turnOf(fresh, env))))
    await fresh.stop()
  }
  t.ok((turns.at(-1) ?? Infinity) <= boundMs, `${what}: ${Math.min(...turns)} ms in one turn of the event loop`, { turns })
}

/** The longest turn of a process since it was last asked. */
async function turnOf ({ child: { pid = 0 } }: AppProcess, env: Record<string, string>): Promise<Turn> {
  const file = `${env['TURN_FILE']}.${pid}`
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  await waitFor('the process says how long its longest turn was', () => existsSync(file) && readFileSync(file, 'utf8') !== '')
  return JSON.parse(readFileSync(file, 'utf8')) as Turn
}
