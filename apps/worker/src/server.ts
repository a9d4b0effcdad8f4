import { watchParent } from '@toolyard/runtime/parent'
import { withSmallHeap } from '@toolyard/runtime/small-heap'

watchParent()
try {
  await withSmallHeap(async () => {
    const { runWorker } = await import('./run.ts')
    await runWorker()
  })
} catch (error) {
  const { exitWithMessage } = await import('@toolyard/runtime')
  exitWithMessage(error)
}
