import { hiddenText, mapTexts, type CallError } from '@toolyard/contract/terms'

/** Returns a function that hides the service's own keys in what tools print, whole wherever they stand. */
export function createSecretMask (secrets: readonly string[]): (text: string) => string {
  // The longest first: one key may begin like another.
  const literals = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length)
  return text => literals.reduce((rest, literal) => rest.replaceAll(literal, hiddenText), text)
}

export function maskError (error: CallError, mask: (text: string) => string): CallError {
  const { code, message, details } = error
  return { code, message: mask(message), ...(details === undefined ? {} : { details: mapTexts(details, mask) }) }
}
