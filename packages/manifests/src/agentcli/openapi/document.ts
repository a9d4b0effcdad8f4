import { setImmediate } from 'node:timers/promises'
import { isRecord, pointerTarget, readJsonInTurns } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { shortened } from '../../finding/shortened.ts'
import { largeYaml, readLargeYaml } from '../../document/yaml.ts'
import { manifestLimits } from '../../tool/limits.ts'

/** Why a document, or an operation of it, can't become a tool: a half sentence. */
export class OpenapiFault extends Error {
  override readonly name = 'OpenapiFault'
}

export interface OpenapiDocument {
  root: Record<string, unknown>
  title: string
  /** Version 3.0 has a schema language of its own; 3.1 and later have JSON Schema. */
  is30: boolean
}

/** References that lead to references. */
const mostHops = 20

/** Reads a document, JSON or YAML. @throws OpenapiFault for what is none, or of another version. */
export async function readOpenapi (text: string): Promise<OpenapiDocument> {
  const root = await parse(text.replace(/^\ufeff/, ''))
  if (!isRecord(root)) throw new OpenapiFault('is no OpenAPI document: it is no object')
  if (isDeeperThan(manifestLimits.depth, root)) throw new OpenapiFault(`is nested deeper than ${manifestLimits.depth} levels`)
  const { openapi, swagger, info } = root
  if (swagger !== undefined) {
    const convert = 'convert it to OpenAPI 3 first, for example with npx swagger2openapi'
    throw new OpenapiFault(`is of version ${text20(swagger)}, which has another form: ${convert}`)
  }
  if (openapi === undefined) throw new OpenapiFault('is no OpenAPI document: it has no field openapi')
  if (typeof openapi !== 'string' || !/^3\.[0-2]\b/.test(openapi)) throw new OpenapiFault(`is of version ${text20(openapi)}; 3.0, 3.1 and 3.2 are read`)
  const title = isRecord(info) && typeof info['title'] === 'string' ? info['title'] : ''
  return { root, title, is30: openapi.startsWith('3.0') }
}

/**
 * The value at a place of the document, with references followed.
 *
 * @throws OpenapiFault for one that leads nowhere, outside, or in a circle.
 */
export function dereferenced ({ root }: Pick<OpenapiDocument, 'root'>, value: unknown): Record<string, unknown> {
  let found = value
  for (let hops = 0; hops < mostHops; hops++) {
    if (!isRecord(found)) return {}
    const reference = found['$ref']
    if (typeof reference !== 'string') return found
    found = pointed(root, reference)
  }
  throw new OpenapiFault('has references that lead to each other in a circle')
}

/** The target of a reference. @throws OpenapiFault for one that leads nowhere or outside. */
export function pointed (root: Record<string, unknown>, reference: string): unknown {
  if (!reference.startsWith('#')) {
    throw new OpenapiFault(`refers to ${text20(reference)}, which is outside of the document: bundle it into one file first`)
  }
  const found = pointerTarget(root, reference)
  if (found === undefined) throw new OpenapiFault(`refers to ${text20(reference)}, which isn't there`)
  return found
}

/** The beginning of a text of the document, for a message. */
export function text20 (value: unknown): string {
  return shortened(typeof value === 'string' ? value : JSON.stringify(value) ?? '')
}

async function parse (text: string): Promise<unknown> {
  try {
    return await readJsonInTurns(text, setImmediate)
  } catch {
    if (Buffer.byteLength(text) > largeYaml.bytes) throw new OpenapiFault(`is no JSON, and YAML is read up to ${largeYaml.bytes / 2 ** 20} MiB: convert it to JSON`)
    const reading = await readLargeYaml(text)
    if (reading.ok) return reading.value
    const { message, line } = reading.fault
    throw new OpenapiFault(`is neither JSON nor YAML: ${message}${line === undefined ? '' : ` (line ${line})`}`)
  }
}
