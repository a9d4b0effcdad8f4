import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'

/** A path as messages show it: `tools[0].inputs.path`. */
export function placeOf (path: DocumentPath): string {
  return path.map((step, at) => typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${cut(step)}`).join('')
}

function cut (name: string): string {
  return name.length > manifestLimits.issueTextChars ? `${name.slice(0, manifestLimits.issueTextChars)}…` : name
}
