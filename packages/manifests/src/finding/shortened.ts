import { firstChars } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'

/** A name or a value as messages show it. */
export function shortened (text: string): string {
  return text.length > manifestLimits.issueTextChars ? `${firstChars(text, manifestLimits.issueTextChars)}…` : text
}
