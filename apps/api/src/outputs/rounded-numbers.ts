import { mayLoseText } from '@toolyard/contract/terms'

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** Whether a JSON has a number that isn't the same after a program has read it as a double and written it again. */
export function isRoundedByDoubles (json: string): boolean {
  if (!mayLoseText(json)) return false
  for (const [token] of json.matchAll(tokens)) if (!token.startsWith('"') && isRounded(token)) return true
  return false
}

/** The JSON with such numbers, and whole ones that libraries of JavaScript read as no number, as texts of the same digits. */
export function numbersAsTexts (json: string): string {
  if (!mayHoldLarge.test(json)) return json
  return json.replace(tokens, token => !token.startsWith('"') && (isRounded(token) || isLarge(token)) ? `"${token}"` : token)
}

const mayHoldLarge = /\d\.?\d{15}/

function isLarge (number: string): boolean {
  return /^-?\d{16,}$/.test(number) && !Number.isSafeInteger(Number(number))
}

/**
 * A double holds any 15 digits. Programs write fractions with up to 17, of which JavaScript writes fewer for the same double: nothing is
 * lost then, which `losesValue` would say. Zeros at the end are looked for where a run of them begins: there may be a million inside.
 */
function isRounded (number: string): boolean {
  const digits = number.replace(/[eE].*/, '').replaceAll(/\D/g, '').replace(/^0+/, '').replace(/(?<!0)0+$/, '').length
  return digits > 17 || (digits > 15 && /^-?\d+$/.test(number) && String(Number(number)) !== number)
}
