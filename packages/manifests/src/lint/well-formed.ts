import { mapTexts } from '@toolyard/contract/terms'

/**
 * The value with a replacement character in place of each half of a surrogate pair: providers refuse a whole request for one, as no
 * Unicode text, and Python libraries can't write it.
 */
export function wellFormed<Value extends object> (value: Value): Value {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Texts stay texts.
  return mapTexts(value, text => text.replace(/\p{Surrogate}/gu, '\ufffd')) as Value
}
