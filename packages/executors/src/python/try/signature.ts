import { isRecord } from '@toolyard/contract/terms'
import type { ExecuteParameter } from '@toolyard/manifests'

/** Python's own names. */
const kinds: ReadonlyArray<ExecuteParameter['kind']> = ['POSITIONAL_ONLY', 'POSITIONAL_OR_KEYWORD', 'VAR_POSITIONAL', 'KEYWORD_ONLY', 'VAR_KEYWORD']

/** What a try told of `execute`; nothing where it isn't a signature: the module may have written what it liked. */
export function readSignature (told: unknown): { signature?: ExecuteParameter[] } {
  if (!Array.isArray(told)) return {}
  const signature = told.map(parameterOf).filter(parameter => parameter !== undefined)
  return signature.length === told.length ? { signature } : {}
}

function parameterOf (told: unknown): ExecuteParameter | undefined {
  if (!isRecord(told)) return undefined
  const { name, kind, optional } = told
  const known = kinds.find(each => each === kind)
  return typeof name === 'string' && known !== undefined && typeof optional === 'boolean' ? { name, kind: known, optional } : undefined
}
