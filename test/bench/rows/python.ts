import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ratioAtLeast, valueAtMost, type Stage } from '../frame/row.ts'
import { p50, throughput } from '../sample.ts'
import { benchExecutors, pythonPath, toolOf } from './bench-executors.ts'

const source = 'from toolyard import Tool\n\nclass Nothing(Tool):\n    def execute(self):\n        return {}\n'
/** The slow path for every call: a new interpreter that imports what a tool needs, and reads and writes JSON. */
const script = 'import json, sys; json.load(sys.stdin); print(json.dumps({}))'
const yardstick = 'a new interpreter in the open for each call'

/** Python tools, with the warm host in the sandbox. */
export const python: Stage = {
  title: 'Python tools, beside a new interpreter for each call',
  rows: {
    'python-box': { what: 'a Python tool, one at a time, p50', yardstick, unit: 'ms', target: valueAtMost(10) },
    'python-rate': { what: 'a Python tool, 4 in flight', yardstick, unit: 'calls/s', target: ratioAtLeast(5) }
  },
  open: async ({ cleanup, size }) => {
    const interpreter = await pythonPath()
    const unable = { unable: 'python3 is not installed' }
    if (interpreter === undefined) return { 'python-rate': unable, 'python-box': unable }
    const start = async (): Promise<void> => {
      const run = promisify(execFile)(interpreter, ['-c', script])
      run.child.stdin?.end('{}')
      await run
    }
    const { dir, call } = await benchExecutors(cleanup, 'auto')
    await writeFile(join(dir, 'nothing.py'), source)
    const tool = toolOf('nothing', { kind: 'python', root: dir, module: 'nothing', config: {}, strictOutputs: false }, { source: { format: 'tool-manifest', file: join(dir, 'manifest.json'), index: 0 } })
    const boxed = async (): Promise<unknown> => await call(tool, {})
    await p50(size(35, 2), boxed)
    const [cold, warm] = [size(6, 2), size(35, 3)]
    return {
      'python-box': { yardstick: async () => await p50(cold, start), subject: async () => await p50(warm, boxed) },
      'python-rate': { yardstick: async () => await throughput(size(12, 4), 4, 1, start), subject: async () => await throughput(size(70, 4), 4, 1, boxed) }
    }
  }
}
