/** Characters that turn the direction of writing, show as nothing or as a space (an empty one of Braille, too), or are none. */
const unseen = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** JSON whose text is what it seems: who approves a call sees all of it. What can't be seen is escaped, which is the same value. */
export function visible (json: string): string {
  return json.replace(unseen, text => Array.from({ length: text.length }, (_, at) => escaped(text.charCodeAt(at))).join(''))
}

function escaped (unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
