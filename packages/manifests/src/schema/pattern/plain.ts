/** A character, one that is escaped, a class or a dot. Unicode properties are left out: V8 compiles them slowly. */
const item = String.raw`(?:[^\\^$.*+?()[\]{}|]|\\[dDwWsSnrtfv.*+?()[\]{}|\\/^$-]|\.|\[\^?(?:[^\\[\]]|\\[dDwWsSnrtfv.*+?()[\]{}|\\/^$-])+\])`
const literal = String.raw`(?:[^\\^$.*+?()[\]{}|]|\\[nrtfv.*+?()[\]{}|\\/^$-])`
const plain = new RegExp(String.raw`^(?:\^(?:${item}(?:\{\d{1,2}\})?)*(?:${item}(?:[*+?]|\{\d{1,3},\d{0,3}\}))?\$?|${literal}+\$?|${item}\$?)$`, 'u')
/** UTF-16 units of a plain pattern: what it counts is written out when it is compiled. */
const maxChars = 64

/**
 * Whether a pattern is plainly cheap, as `^[a-z][a-z0-9_-]{0,63}$` and `\.json$` are: a text can be read in one way alone.
 * It begins at the text's start and repeats at most its last part by more than one count, or it is a text or one character to be found. No
 * proof is needed, and V8's engine takes a few steps per character.
 */
export function isPlainPattern (source: string): boolean {
  return source.length <= maxChars && plain.test(source)
}
