import { orElse } from '@toolyard/contract/terms'
import { resolve } from 'node:path'

export interface HostPort {
  host: string
  port: number
}

export interface Variable<T> {
  fallback: T
  /** Completes the sentence "NAME must be ...". */
  allowed: string
  /** Returns undefined for a text that is not allowed; may throw an Error whose message says more. */
  read: (text: string) => T | undefined
}

export function integer (fallback: number, min: number, max: number): Variable<number> {
  const read = (text: string): number | undefined => /^-?\d{1,15}$/.test(text) ? between(Number(text), min, max) : undefined
  return { fallback, allowed: `an integer ${min}..${max}`, read }
}

export function number (fallback: number, min: number, max: number): Variable<number> {
  const read = (text: string): number | undefined => /^\d{1,15}(\.\d{1,9})?$/.test(text) ? between(Number(text), min, max) : undefined
  return { fallback, allowed: `a number ${min}..${max}`, read }
}

export function choice<const T extends string> (fallback: T, values: readonly T[]): Variable<T> {
  return { fallback, allowed: `one of ${values.join(', ')}`, read: text => values.find(value => value === text) }
}

/** A word, which is the default, or another kind of value. */
export function orWord<const W extends string, T> (word: W, { allowed, read }: Variable<T>): Variable<W | T> {
  return { fallback: word, allowed: `${word}, or ${allowed}`, read: text => text === word ? word : read(text) }
}

export function flag (): Variable<boolean> {
  const words = new Map([...['1', 'true', 'yes', 'on'].map(word => [word, true] as const), ...['0', 'false', 'no', 'off'].map(word => [word, false] as const)])
  return { fallback: false, allowed: `one of ${[...words.keys()].join(', ')}`, read: text => words.get(text.toLowerCase()) }
}

export function text (fallback: string): Variable<string> {
  return { fallback, allowed: 'a text', read: value => value }
}

/** A list; blanks around and between the items are dropped. */
export function list (fallback: string[]): Variable<string[]> {
  return { fallback, allowed: 'a comma-separated list', read: value => splitList(value) }
}

/** A list of at least one item, each of which `read` knows. */
export function items<T extends string> (allowed: string, read: (item: string) => T | undefined): Omit<Variable<T[]>, 'fallback'> {
  return {
    allowed,
    read: value => {
      const all = splitList(value)
      const found = all.map(read).filter(item => item !== undefined)
      return all.length === 0 || found.length < all.length ? undefined : found
    }
  }
}

/** A comma-separated list of `host:port`, at least one; an IPv6 address stands in brackets. */
export function hosts (defaultPort: number): Omit<Variable<HostPort[]>, 'fallback'> {
  const read = (value: string): HostPort[] | undefined => {
    const found = splitList(value).map(item => /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/i.exec(item))
    const nodes = found.map(match => match === null ? undefined : { host: match[1] ?? match[2] ?? '', port: Number(match[3] ?? defaultPort) })
    const good = nodes.filter(node => node !== undefined).filter(({ port }) => port > 0 && port < 65_536)
    return good.length === nodes.length && good.length > 0 ? good : undefined
  }
  return { allowed: 'a comma-separated list of host:port', read }
}

/** A comma-separated list of `name=value`, percent-encoded where needed, as the variables of OpenTelemetry are. */
export const pairs: Omit<Variable<Readonly<Record<string, string>>>, 'fallback'> = {
  allowed: 'a comma-separated list of name=value',
  read: value => {
    const found = splitList(value, ',').map(item => /^([^=\s]+)\s*=\s*(.*)$/.exec(item))
    if (found.includes(null)) return undefined
    return Object.fromEntries(found.map(match => [decoded(match?.[1] ?? ''), decoded(match?.[2] ?? '')]))
  }
}

/** A path, made absolute against the working directory. */
export function path (fallback: string): Variable<string> {
  return { fallback: resolve(fallback), allowed: 'a path', read: value => resolve(value) }
}

export function optional<T> (variable: Omit<Variable<T>, 'fallback'>): Variable<T | undefined> {
  return { ...variable, fallback: undefined }
}

function decoded (text: string): string {
  return orElse(() => decodeURIComponent(text), text)
}

/** Items stand apart by commas, and where people are used to it by semicolons or in lines of their own. */
export function splitList (value: string, between: string | RegExp = /[,;\n]/): string[] {
  return value.split(between).map(item => item.trim()).filter(item => item !== '')
}

function between (value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined
}
