import { cutNotice, offsetBehind } from '../../invocation/batch/read-for-model.ts'
import type { ResultParts } from './call-result.ts'
import type { Exchange } from './exchange.ts'
import type { ToolLists } from './tool-list.ts'

/** Where the address says so, outputs are cut as those of batches are. */
export function cuttingOf ({ place: { maxOutputChars: chars }, principal }: Exchange, lists: ToolLists): ResultParts['cutting'] {
  if (chars === undefined) return undefined
  const publication = lists.publication(principal)
  return { chars, notice: ({ preview, ...cut }) => cutNotice({ ...cut, from: offsetBehind(preview) }, publication) }
}
