import type { Static, TInteger, TOptional } from 'typebox'
import { Type } from '@toolyard/contract/type'
import type { ToolLimits } from '../tool/tool.ts'

interface Bound {
  min: number
  max: number
  says: string
}

/** The sandbox has defaults for limits that a tool doesn't set. */
const table: Record<keyof ToolLimits, Bound> = {
  cpuSec: { min: 1, max: 86_400, says: 'Seconds of processor time of one process.' },
  memoryBytes: { min: 1_048_576, max: 2 ** 40, says: 'Memory: of one process, and of the call where there are cgroups.' },
  fileBytes: { min: 1_024, max: 2 ** 40, says: 'Size of one file that it writes.' },
  processes: { min: 1, max: 32_768, says: 'Processes and threads of one call.' },
  openFiles: { min: 16, max: 65_536, says: 'Open files of one process.' },
  tempBytes: { min: 4_096, max: 2 ** 40, says: 'Size of its private temporary directories.' },
  outputBytes: { min: 1, max: 67_108_864, says: 'Bytes of its output that are kept; at most MAX_OUTPUT_BYTES are.' }
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The table has no other keys.
export const limitNames = Object.keys(table) as Array<keyof ToolLimits>

type Fields = Record<keyof ToolLimits, TOptional<TInteger>>

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Each name has one.
const fields = Object.fromEntries(limitNames.map(name => [name, limitField(name)])) as Fields

const description = 'What one call may use; absent fields have the defaults of docs/security.md.'

/** `limits` of an entry, with the names of `ToolLimits`. */
export const Limits = Type.Object(fields, { description })
/** The same for a format that rejects what it doesn't know. */
export const StrictLimits = Type.Object(fields, { additionalProperties: false, description })
export type Limits = Static<typeof Limits>

/** The name of a limit in a format that writes `cpu_sec`. */
export function snakeCase (name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** `runtime.limits` of a tool manifest. */
export const SnakeLimits = Type.Object(
  Object.fromEntries(limitNames.map(name => [snakeCase(name), limitField(name)])),
  { description }
)

/** The limits of `runtime.limits`, whose values were checked. */
export function limitsOfSnake (written: Readonly<Record<string, number | undefined>>): ToolLimits {
  return limitsOf(Object.fromEntries(limitNames.map(name => [name, written[snakeCase(name)]])))
}

export function limitsOf (written: { readonly [Name in keyof ToolLimits]?: number | undefined }): ToolLimits {
  return Object.fromEntries(limitNames.flatMap(name => written[name] === undefined ? [] : [[name, written[name]]]))
}

/** The end of a message. */
export function limitText (name: keyof ToolLimits): string {
  const { min, max } = table[name]
  return `must be an integer from ${min} to ${max}`
}

export function isLimit (name: keyof ToolLimits, value: unknown): value is number {
  const { min, max } = table[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}

function limitField (name: keyof ToolLimits): TOptional<TInteger> {
  const { min, max, says } = table[name]
  return Type.Optional(Type.Integer({ minimum: min, maximum: max, description: says }))
}
