import type { EgressRule } from '@toolyard/runtime/outgoing'

/** A stored secret that the processes of a call don't have. What they have is the placeholder, which was made for this call. */
export interface HeaderSecret {
  placeholder: string
  value: string
  /** All that gives the value away in an answer, with a letter for each byte. */
  forms: readonly string[]
  /** Its name, for who is told that it is gone. */
  name: string
  /** Whether it is still stored, with this value, as it was at most half a second ago. It fails where nobody can say. */
  isCurrent: () => Promise<boolean>
  /** The hosts whose requests carry the value. */
  rules: readonly EgressRule[]
}

/** A tab, and what is neither a control character nor beyond Latin-1. */
const headerText = /^[\t\x20-\x7e\xa0-\xff]*$/

export function isHeaderText (text: string): boolean {
  return headerText.test(text)
}
