import { isRecord } from '@toolyard/contract/terms'
import type { ExecuteParameter } from '@toolyard/manifests'

/** Python's own names. */
const kinds: ReadonlyArray<ExecuteParameter['kind']> = ['POSITIONAL_ONLY', 'POSITIONAL_OR_KEYWORD', 'VAR_POSITIONAL', 'KEYWORD_ONLY', 'VAR_KEYWORD']

/** What a trial import reported of `execute`; nothing where it isn't a signature: the module may have written anything. */
export function readSignature (reported: unknown): { signature?: ExecuteParameter[] } {
  if (!Array.isArray(reported)) return {}
  const signature = reported.map(parameterOf).filter(parameter => parameter !== undefined)
  return signature.length === reported.length ? { signature } : {}
}

function parameterOf (reported: unknown): ExecuteParameter | undefined {
  if (!isRecord(reported)) return undefined
  const { name, kind, optional } = reported
  const known = kinds.find(each => each === kind)
  return typeof name === 'string' && known !== undefined && typeof optional === 'boolean' ? { name, kind: known, optional } : undefined
}
