import { isRecord } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { manifestLimits } from '../../tool/limits.ts'
import { fromOlderDraft } from './older-draft.ts'
import { withPointers } from './pointers.ts'

/**
 * A schema of a tool in the form that models and most libraries know: with the keywords of draft-07 and later, and with pointers
 * as references. One that has it is returned itself, and so is one that is nested too deeply, which is refused later.
 */
export function commonForm<Schema> (schema: Schema): Schema
export function commonForm (schema: unknown): unknown {
  if (!isRecord(schema) || isDeeperThan(manifestLimits.depth, schema)) return schema
  return withPointers(fromOlderDraft(schema))
}
