import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../../support/cleanup.ts'
import { bareInput, spawnBare, type BareLine, type RateRequest } from '../bare-spawn.ts'
import { rateOf, timeOf } from '../frame/measures.ts'
import { ratioAtLeast, ratioAtMost, type Measure, type Stage, type Unable } from '../frame/row.ts'
import { throughput } from '../sample.ts'
import { benchExecutors, boxLine, command, toolOf, withoutBox } from './bench-executors.ts'

const grownMb = 250
const inFlight = 4
const largeBytes = 16 * 2 ** 20
const rfc3339Bytes = '1970-01-01 00:00:00+00:00\n'.length

/** Processes of calls, by the executors alone, beside a bare spawn of the same line. */
export const processes: Stage = {
  title: 'Commands and skills, beside a bare spawn of the same line',
  rows: {
    spawn: { what: '`cat` in the open, one at a time, p50', yardstick: 'a bare spawn', unit: 'ms' },
    'spawn-rate': { what: '`cat` in the open, 4 in flight', yardstick: 'bare spawns', unit: 'calls/s', target: ratioAtLeast(0.9) },
    box: { what: '`cat` in a box, one at a time, p50', yardstick: 'a bare spawn of the bubblewrap line', unit: 'ms', target: ratioAtMost(1.05) },
    'box-rate': { what: '`cat` in a box, 4 in flight', yardstick: 'bare spawns of the bubblewrap line', unit: 'calls/s', target: ratioAtLeast(0.95) },
    skill: { what: 'a skill with two flags in a box, p50', yardstick: 'a bare spawn of the bubblewrap line', unit: 'ms' },
    'output-16mb': { what: '16 MB of stdout in the open, p50', yardstick: 'a bare spawn that reads all of it', unit: 'ms' },
    'box-grown': { what: `\`cat\` in a box, 4 in flight, from a process with ${grownMb} MB more`, yardstick: 'a process that only spawns', unit: 'calls/s', target: ratioAtLeast(0.9) }
  },
  open: async ({ cleanup, size }) => {
    const [open, boxed] = [await benchExecutors(cleanup, 'off'), await benchExecutors(cleanup, 'auto')]
    const [times, runs] = [size(20, 3), size(60, 8)]
    const cat = command('cat', '/bin/cat')
    const pair = async (line: BareLine, ours: () => Promise<unknown>): Promise<{ time: Measure, rate: Measure }> => {
      const bare = async (): Promise<void> => { await spawnBare(line) }
      for (const run of [bare, ours]) await throughput(size(100, 4), inFlight, 1, run)
      return { time: timeOf(times, { bare, ours }), rate: rateOf({ runs, inFlight, units: 1 }, { bare, ours }) }
    }
    const inOpen = await pair({ argv: ['/bin/cat'], files: [], bytes: bareInput.length }, async () => await open.call(cat))
    const large = join(open.workspace, 'large.txt')
    await writeFile(large, `${'x'.repeat(1_023)}\n`.repeat(largeBytes / 1_024))
    const print = command('print', '/bin/cat', [large])
    const printing = await pair({ argv: ['/bin/cat', large], files: [], bytes: largeBytes }, async () => await open.call(print))
    const boxRows = withoutBox(boxed) ?? await openBoxRows()

    async function openBoxRows (): Promise<Record<'box' | 'rate' | 'skill' | 'grown', Measure>> {
      const line = await boxLine(cleanup, boxed)
      const catLine = { ...line, argv: [...line.argv, '/bin/cat'], bytes: bareInput.length }
      const date = toolOf('date', {
        kind: 'skill',
        directory: boxed.dir,
        binary: 'date',
        subcommand: '-u',
        allowlist: { date: ['-u'] },
        allowScripts: false,
        args: ['date', 'rfc-3339'].map(param => ({ kind: 'flag', param, flag: param, normalizeNewlines: false, allowDash: false }))
      })
      const dateLine = { ...line, argv: [...line.argv, '/bin/date', '-u', '--date', '@0', '--rfc-3339', 'seconds'], bytes: rfc3339Bytes }
      const inBox = await pair(catLine, async () => await boxed.call(cat))
      const skill = await pair(dateLine, async () => await boxed.call(date, { date: '@0', 'rfc-3339': 'seconds' }))
      const large = grown(cleanup, catLine, runs, async () => await boxed.call(cat))
      return { box: inBox.time, rate: inBox.rate, skill: skill.time, grown: large }
    }

    const boxRow = (name: 'box' | 'rate' | 'skill' | 'grown'): Measure | Unable => 'unable' in boxRows ? boxRows : boxRows[name]
    return {
      spawn: inOpen.time,
      'spawn-rate': inOpen.rate,
      'output-16mb': printing.time,
      box: boxRow('box'),
      'box-rate': boxRow('rate'),
      skill: boxRow('skill'),
      'box-grown': boxRow('grown')
    }
  }
}

/** The last row of its stage: from its first round on, this process is as large as a busy worker. */
function grown (cleanup: Cleanup, line: BareLine, runs: number, ours: () => Promise<unknown>): Measure {
  const child = fork(fileURLToPath(new URL('../bare-spawn.js', import.meta.url)))
  cleanup.teardown(() => { child.kill() })
  const ballast: Buffer[] = []
  cleanup.teardown(() => { ballast.length = 0 })
  return {
    yardstick: async () => {
      if (ballast.length === 0) ballast.push(Buffer.alloc(grownMb * 2 ** 20, 1))
      child.send({ ...line, runs, inFlight } satisfies RateRequest)
      const [rate] = await once(child, 'message') as [number]
      return rate
    },
    subject: async () => await throughput(runs, inFlight, 1, ours)
  }
}
