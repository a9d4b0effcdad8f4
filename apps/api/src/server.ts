import { watchParent } from '@toolyard/runtime/parent'
import { withSmallHeap } from '@toolyard/runtime/small-heap'

watchParent()
try {
  await withSmallHeap(async () => {
    const { runApi } = await import('./run.ts')
    await runApi()
  })
} catch (error) {
  const { exitWithMessage } = await import('@toolyard/runtime')
  exitWithMessage(error)
}
