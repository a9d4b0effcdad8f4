import type { Cleanup } from '../support/cleanup.ts'
import { benchCommand } from './command.ts'
import { benchFileSearch } from './file-search.ts'
import { benchFairness } from './fairness.ts'
import { benchFleetCost, benchScaleOut } from './fleet.ts'
import { benchMainJob, benchMemory } from './main-job.ts'
import { benchBoxedPythonHost, benchPythonHost } from './python-host.ts'
import { benchReplicas } from './replicas.ts'
import { print, type Row } from './report.ts'
import { benchStreams } from './streams.ts'
import { benchTracedJob } from './traced-job.ts'

/** The benchmarks, by the names that choose them on the command line. */
const benchmarks: Record<string, [title: string, run: (cleanup: Cleanup) => Promise<Row[]>]> = {
  job: ['The main job: BullMQ by itself beside Toolyard over HTTP', benchMainJob],
  traced: ['The main job with traces', benchTracedJob],
  memory: ['Memory', benchMemory],
  command: ['Commands: a bare child_process.spawn of the same line beside Toolyard', benchCommand],
  streams: ['Event streams', benchStreams],
  python: ['Python tools: a new interpreter for each call beside the warm host', benchPythonHost],
  fleet: ['What a job costs Redis as API processes are added', benchFleetCost],
  replicas: ['Tools that may run only once: nothing waited for, beside one replica', benchReplicas],
  scale: ['Workers added', benchScaleOut],
  fairness: ['One key beside another that floods', benchFairness],
  'python-box': ['Python tools: the same, with the warm host in the sandbox', benchBoxedPythonHost],
  search: ['Searching 100,000 files: ripgrep by itself beside the built-in tools', benchFileSearch]
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(benchmarks)
for (const name of chosen) {
  const benchmark = benchmarks[name]
  if (benchmark === undefined) throw new Error(`no benchmark '${name}'; there are ${Object.keys(benchmarks).join(', ')}`)
  const [title, run] = benchmark
  const steps: Array<() => unknown> = []
  try {
    print(title, await run({ teardown: step => steps.unshift(step) }))
  } finally {
    for (const step of steps) await step()
  }
}
