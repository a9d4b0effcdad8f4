import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../../support/cleanup.ts'
import { bareInput, type BareLine, type BareRequest } from '../bare-spawn.ts'
import { ratioAtLeast, ratioAtMost, type Measure, type Stage, type Unable } from '../frame/row.ts'
import { p50, pausedP50, pauseMs, throughput } from '../sample.ts'
import { benchExecutors, boxLine, command, pythonPath, toolOf, withoutBox } from './bench-executors.ts'

const grownMb = 250
const inFlight = 4
/** A box may add so much to a script. */
const boxMs = 3
const largeBytes = 16 * 2 ** 20
const rfc3339Bytes = '1970-01-01 00:00:00+00:00\n'.length

type BoxRow = 'box' | 'row' | 'rate' | 'skill' | 'python' | 'output' | 'grown'

/** Processes of calls, by the executors alone, beside bare spawns of the same line by a process that only spawns. */
export const processes: Stage = {
  title: 'Commands and skills, beside a bare spawn of the same line',
  rows: {
    box: { what: `\`cat\` in a box, ${pauseMs} ms after the last one, p50`, yardstick: 'a bare spawn of the bubblewrap line', unit: 'ms', target: ratioAtMost(0.4) },
    'box-row': { what: '`cat` in a box, one right after the other, p50', yardstick: 'a bare spawn of the bubblewrap line', unit: 'ms', target: ratioAtMost(1.05) },
    'box-rate': { what: '`cat` in a box, 4 in flight', yardstick: 'bare spawns of the bubblewrap line', unit: 'calls/s', target: ratioAtLeast(0.95) },
    skill: { what: `a skill with two flags in a box, ${pauseMs} ms after the last one, p50`, yardstick: 'a bare spawn of the bubblewrap line', unit: 'ms', target: ratioAtMost(0.45) },
    'box-python': {
      what: `a Python script in a box, ${pauseMs} ms after the last one, p50`, yardstick: `a bare spawn of the script in the open, and ${boxMs} ms`, unit: 'ms', target: ratioAtMost(0.9)
    },
    'output-16mb': { what: '16 MB of stdout in a box, p50', yardstick: 'a bare spawn of the bubblewrap line that reads all of it', unit: 'ms' },
    'box-grown': { what: `\`cat\` in a box, 4 in flight, from a process with ${grownMb} MB more`, yardstick: 'a process that only spawns', unit: 'calls/s', target: ratioAtLeast(0.9) }
  },
  open: async ({ cleanup, size }) => {
    const boxed = await benchExecutors(cleanup, 'auto', { maxBytes: 64 * 2 ** 20 })
    const [times, runs] = [size(15, 3), size(28, 8)]
    const cat = command('cat', '/bin/cat')
    const bare = bareSpawner(cleanup)
    const pair = async (line: BareLine, ours: () => Promise<unknown>): Promise<{ paused: Measure, time: Measure, rate: Measure }> => {
      const warmUp = size(60, 4)
      const yardstick = async (): Promise<number> => await bare({ ...line, of: 'time', runs: times, inFlight: 1 })
      await bare({ ...line, of: 'rate', runs: warmUp, inFlight })
      await throughput(warmUp, inFlight, 1, ours)
      return {
        paused: { yardstick, subject: async () => await pausedP50(times, ours) },
        time: { yardstick, subject: async () => await p50(times, ours) },
        rate: { yardstick: async () => await bare({ ...line, of: 'rate', runs, inFlight }), subject: async () => await throughput(runs, inFlight, 1, ours) }
      }
    }
    const boxRows = withoutBox(boxed) ?? await openBoxRows()

    async function openBoxRows (): Promise<Record<BoxRow, Measure | Unable>> {
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
      const file = join(boxed.workspace, 'large.txt')
      await writeFile(file, `${'x'.repeat(1_023)}\n`.repeat(largeBytes / 1_024))
      const print = command('print', '/bin/cat', [file])
      const output = await pair({ ...line, argv: [...line.argv, '/bin/cat', file], bytes: largeBytes }, async () => await boxed.call(print))
      const { paused, time, rate } = inBox
      const python = await pythonRow()
      return { box: paused, row: time, rate, skill: skill.paused, python, output: output.time, grown: grown(cleanup, rate) }
    }

    async function pythonRow (): Promise<Measure | Unable> {
      const python = await pythonPath()
      if (python === undefined) return { unable: 'python3 is not installed' }
      const argv = [python, '-c', 'import json, sys; print(json.dumps(json.load(sys.stdin)))']
      const script = command('python', python, argv.slice(1))
      const { time, paused } = await pair({ argv, files: [], bytes: bareInput.length + 2 }, async () => await boxed.call(script))
      return { yardstick: async round => boxMs + (await time.yardstick?.(round) ?? NaN), subject: paused.subject }
    }

    const boxRow = (name: BoxRow): Measure | Unable => 'unable' in boxRows ? boxRows : boxRows[name]
    return {
      box: boxRow('box'),
      'box-row': boxRow('row'),
      'box-rate': boxRow('rate'),
      skill: boxRow('skill'),
      'box-python': boxRow('python'),
      'output-16mb': boxRow('output'),
      'box-grown': boxRow('grown')
    }
  }
}

/** A process that only spawns. This one has loaded much, and a large process takes longer to fork. */
function bareSpawner (cleanup: Cleanup): (request: BareRequest) => Promise<number> {
  const child = fork(fileURLToPath(new URL('../bare-spawn.js', import.meta.url)))
  cleanup.teardown(() => { child.kill() })
  return async request => {
    child.send(request)
    const [number] = await once(child, 'message') as [number]
    return number
  }
}

/** The last row of its stage: from its first round on, this process is as large as a busy worker. */
function grown (cleanup: Cleanup, { yardstick, subject }: Measure): Measure {
  const ballast: Buffer[] = []
  cleanup.teardown(() => { ballast.length = 0 })
  return {
    yardstick: async round => {
      if (ballast.length === 0) ballast.push(Buffer.alloc(grownMb * 2 ** 20, 1))
      return await yardstick?.(round) ?? NaN
    },
    subject
  }
}
