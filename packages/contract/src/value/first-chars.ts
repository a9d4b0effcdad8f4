/** The first `maxChars` UTF-16 units of a text, less one when the cut would split a surrogate pair: strict programs refuse a half. */
export function firstChars (text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const last = text.charCodeAt(maxChars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars)
}
