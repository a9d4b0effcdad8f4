import { isRecord, isWhole, isWritten, losesValue, numberText } from '@toolyard/contract/terms'
import { shortened } from '../finding/shortened.ts'
import { escaped, type Issue } from './issues.ts'

/**
 * The first number of which a double is another one, as what is wrong with it.
 *
 * @param kind `fraction`: only those that a double takes for whole numbers.
 */
export function lostNumber (value: unknown, path = '', kind: 'value' | 'fraction' = 'value'): Issue | undefined {
  if (!isWritten(value)) return undefined
  const names = Array.isArray(value) ? value.keys() : isRecord(value) ? Object.keys(value) : []
  for (const name of names) {
    const text = numberText(value, name)
    const member: unknown = Reflect.get(Object(value), name)
    if (text !== undefined && losesValue(text) && (kind === 'value' || (Number.isInteger(member) && !isWhole(text)))) {
      return { path: shortened(`${path}/${escaped(String(name))}`), message: `is the number ${shortened(text)}, which a tool can't be sure to hold: send it as a text` }
    }
    const found = lostNumber(member, `${path}/${escaped(String(name))}`, kind)
    if (found !== undefined) return found
  }
  return undefined
}
