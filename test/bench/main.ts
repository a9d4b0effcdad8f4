import { benchMainJob, benchMemory } from './main-job.ts'
import { print } from './report.ts'

const teardowns: Array<() => unknown> = []
const cleanup = { teardown: (step: () => unknown) => { teardowns.unshift(step) } }
try {
  print('The main job: BullMQ by itself beside Toolyard over HTTP', await benchMainJob(cleanup))
  print('Memory', await benchMemory(cleanup))
} finally {
  for (const step of teardowns) await step()
}
