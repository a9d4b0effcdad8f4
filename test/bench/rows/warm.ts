import type { Tool } from '@toolyard/manifests'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '../../support/condition.ts'
import { ratioAtLeast, ratioAtMost, type Measure, type Stage, type Unable } from '../frame/row.ts'
import { p50, quantile, throughput } from '../sample.ts'
import { benchExecutors, command, pythonPath, withoutBox, type BenchExecutors } from './bench-executors.ts'

const kept = 4
const inFlight = 8
const scripts = {
  'tool.py': 'import json, csv, urllib.request, sys\nprint(json.dumps(json.load(sys.stdin)))\n',
  'tool.mjs': "import { readFileSync } from 'node:fs'\nconsole.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8'))))\n"
}
const cold = 'the same tool without `warm`'

/** Commands that are kept ready, beside the same ones that aren't. */
export const warm: Stage = {
  title: 'Commands kept ready: "warm": 4, in a box',
  rows: {
    'warm-cat': { what: '`cat`, one at a time, p50', yardstick: cold, unit: 'ms', target: ratioAtMost(0.25) },
    'warm-python': { what: 'a Python script that imports `json`, `csv` and `urllib.request`, p50', yardstick: cold, unit: 'ms', target: ratioAtMost(0.15) },
    'warm-node': { what: 'a Node script, p50', yardstick: cold, unit: 'ms', target: ratioAtMost(0.15) },
    'warm-full-cat': { what: '`cat` at full load: 8 in flight without a pause', yardstick: cold, unit: 'calls/s', target: ratioAtLeast(0.95) },
    'warm-full-python': { what: 'the Python script at full load', yardstick: cold, unit: 'calls/s', target: ratioAtLeast(0.95) }
  },
  open: async ({ cleanup, size }) => {
    const python = await pythonPath()
    // No cold one is kept, so that nothing is started beside them.
    const [cold, ready] = [await benchExecutors(cleanup, 'auto'), await benchExecutors(cleanup, 'auto')]
    for (const { workspace } of [cold, ready]) {
      for (const [name, text] of Object.entries(scripts)) await writeFile(join(workspace, name), text)
    }
    const noBox = withoutBox(ready)
    const measures = (
      tool: Tool | Unable, { runs, load: calls }: { runs: number, load: number }
    ): { alone: Measure | Unable, full: Measure | Unable } => {
      const unable = noBox ?? ('unable' in tool ? tool : undefined)
      if (unable !== undefined || 'unable' in tool) return { alone: unable ?? { unable: '' }, full: unable ?? { unable: '' } }
      const warmTool = { ...tool, warm: kept }
      const load = async ({ call }: BenchExecutors, loaded: Tool): Promise<number> => (
        await throughput(size(calls, 8), inFlight, 1, async () => await call(loaded))
      )
      const keep = async (): Promise<void> => {
        ready.executors.keep([warmTool])
        await waitFor('all of its processes wait', () => ready.executors.waiting(tool.name) === kept)
      }
      return {
        alone: {
          yardstick: async () => {
            ready.executors.keep([])
            return await p50(size(runs, 2), async () => await cold.call(tool))
          },
          subject: async () => await timesWhenReady(size(runs, 2), keep, async () => await ready.call(warmTool))
        },
        full: {
          yardstick: async () => {
            ready.executors.keep([])
            return await load(cold, tool)
          },
          subject: async () => {
            await keep()
            return await load(ready, warmTool)
          }
        }
      }
    }
    const cat = measures(command('cat', '/bin/cat'), { runs: 12, load: 40 })
    const script = measures(python === undefined ? { unable: 'python3 is not installed' } : command('python', python, ['tool.py']), { runs: 4, load: 8 })
    const node = measures(command('node', process.execPath, ['tool.mjs']), { runs: 4, load: 8 })
    return { 'warm-cat': cat.alone, 'warm-python': script.alone, 'warm-node': node.alone, 'warm-full-cat': cat.full, 'warm-full-python': script.full }
  }
}

async function timesWhenReady (runs: number, ready: () => Promise<void>, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    await ready()
    times.push(await p50(1, call))
  }
  return quantile(times, 0.5)
}
