import type { DocumentPath } from '../finding/finding.ts'
import { shortened } from '../finding/shortened.ts'

/** A path as messages show it: `tools[0].inputs.path`. */
export function placeOf (path: DocumentPath): string {
  return path.map((step, at) => typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${shortened(step)}`).join('')
}
