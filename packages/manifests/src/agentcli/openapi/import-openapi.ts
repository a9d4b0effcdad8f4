import { freeName, isSecretVariable, limits, nearName } from '@toolyard/contract/terms'
import { defaultFaults } from '../../schema/defaults.ts'
import { manifestLimits } from '../../tool/limits.ts'
import { createSchemas } from '../../schema/schemas.ts'
import { OpenapiFault, readOpenapi } from './document.ts'
import { operationName, safeName, variablePart } from './names.ts'
import { operationDraft, operationsOf, type OperationDraft, type OperationPlace, type RequestDraft } from './operation.ts'

export interface ImportOptions {
  /** Operations by `operationId`, `METHOD /path`, or the name of the tool; absent: all. */
  only?: readonly string[]
  /** Operations with one of these tags; absent: all. */
  tags?: readonly string[]
  server?: string
  /** In front of the names of tools, and of variables. */
  prefix?: string
}

interface ImportedEntry {
  name: string
  description: string
  schema: Record<string, unknown>
  tags?: readonly string[]
  http: RequestDraft
}

export interface OpenapiImport {
  /** Its title, for the namespace of its tools. */
  title: string
  entries: ImportedEntry[]
  /** Operations that are no tools, and why. */
  leftOut: Array<{ operation: string, because: string }>
  /** Parts of operations that their tools lack. */
  notes: Array<{ tool: string, says: string }>
  /** Environment variables that the workers need, and what belongs into them. */
  settings: ReadonlyMap<string, string>
  /** Servers that were made with defaults of variables, and the names of these. */
  servers: ReadonlySet<string>
}

/**
 * The text of a manifest with the entries, without white space where it would be too large with it.
 *
 * @throws OpenapiFault when no manifest may be so large.
 */
export function manifestTextOf ({ title, entries }: OpenapiImport): string {
  const manifest = { ...title !== '' && { namespace: title }, tools: entries }
  const most = manifestLimits.fileBytes
  for (const indent of [2, 0]) {
    const text = `${JSON.stringify(manifest, null, indent)}\n`
    if (Buffer.byteLength(text) <= most) return text
  }
  throw new OpenapiFault(`has ${entries.length} operations, which are too much for one manifest of ${most} bytes: write several of them with toolyard import openapi FILE --tag NAMES --out FILE, or --only NAMES`)
}

/**
 * Makes entries of the operations of an OpenAPI document.
 *
 * @throws OpenapiFault for a document that can't be used, or operations that it doesn't have.
 */
export async function importOpenapi (text: string, { only, tags, server, prefix = '' }: ImportOptions = {}): Promise<OpenapiImport> {
  const document = await readOpenapi(text)
  const taken = new Set<string>()
  const unread: OpenapiImport['leftOut'] = []
  const named = operationsOf(document, (operation, { message: because }) => { unread.push({ operation, because }) }).map(place => {
    return { place, name: freeName(safeName(`${prefix}${operationName(place.id, place.method, place.path)}`), taken) }
  })
  refuseUnknown('operation', only, named.flatMap(({ place, name }) => namesOf(place, name)))
  refuseUnknown('operation with the tag', tags, named.flatMap(({ place }) => tagsOf(place)))
  const schemas = createSchemas()
  const title = document.title.trim().slice(0, limits.namespaceChars)
  const settingsOfAll = new Map<string, string>()
  const servers = new Set<string>()
  const result: OpenapiImport = { title, entries: [], leftOut: unread, notes: [], settings: settingsOfAll, servers }
  const settingOf = settingNames(prefix === '' ? document.title : prefix)
  for (const { place, name } of named) {
    if (only !== undefined && !namesOf(place, name).some(each => only.includes(each))) continue
    if (tags !== undefined && !tagsOf(place).some(tag => tags.includes(tag))) continue
    try {
      const options = { ...server !== undefined && { server }, settingOf }
      const draft = (patterns: boolean): OperationDraft => operationDraft(document, place, { ...options, patterns })
      let { description, schema, http, notes, settings, assumed } = draft(true)
      if ((await schemas.check(schema)).length > 0) {
        ({ description, schema, http, notes, settings, assumed } = draft(false))
        const [fault] = await schemas.check(schema)
        if (fault !== undefined) throw new OpenapiFault(`has a schema that ${fault.message}`)
        notes.push('its patterns are left out: one of them can\'t be checked in bounded time')
      }
      const words = tagsOf(place).filter(tag => tag !== '' && tag.length <= manifestLimits.tagChars).slice(0, manifestLimits.tags)
      result.entries.push({ name, description, schema, ...words.length > 0 && { tags: words }, http })
      for (const says of [...notes, ...defaultFaults(schema).map(({ message }) => message)]) result.notes.push({ tool: name, says })
      for (const [setting, says] of settings) settingsOfAll.set(setting, says)
      if (assumed !== undefined) servers.add(assumed)
    } catch (error) {
      if (!(error instanceof OpenapiFault)) throw error
      result.leftOut.push({ operation: namesOf(place, name)[0] ?? name, because: error.message })
    }
  }
  return result
}

/** Makes names of environment variables, such as `PETSTORE_API_KEY`. */
export function settingNames (owner: string): (scheme: string) => string {
  const base = variablePart(owner) || 'API'
  return scheme => {
    const part = variablePart(scheme) || 'KEY'
    const name = part.startsWith(base) ? part : `${base}_${part}`
    const plain = /^\d/.test(name) ? `_${name}` : name
    return isSecretVariable(plain) || !plain.includes('_') ? `${plain}_SECRET` : plain
  }
}

function namesOf ({ id, method, path }: OperationPlace, name: string): string[] {
  return [...id === '' ? [] : [id], `${method.toUpperCase()} ${path}`, name]
}

function tagsOf ({ operation }: OperationPlace): string[] {
  return Array.isArray(operation['tags']) ? operation['tags'].map(String) : []
}

function refuseUnknown (what: string, wanted: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = wanted?.find(name => !known.includes(name))
  if (unknown === undefined) return
  const near = nearName(unknown, known)
  throw new OpenapiFault(`has no ${what} ${unknown}${near === undefined ? '' : `; is ${near} meant?`}`)
}
