import { errorCode, isRecord, limits, type CallError } from '@toolyard/contract/terms'
import type { JsonSchema } from '@toolyard/manifests'
import { atPlace, shown, WorkspaceFailure, type WorkspaceSetting } from '@toolyard/workspace'
import { interruptionError } from './interruption.ts'
import type { RunContext } from './outcome.ts'

/*
 * Where a schema says `"format": "session-file"`, the argument names a file of the session. It must be there, and the tool gets
 * its path from its working directory, without links.
 */

/** Where the files of a call are. */
export interface FileSource {
  /** The shared workspace. */
  workspaceDir: string
  serviceFiles?: readonly string[]
}

const format = 'session-file'
/** Keywords with a schema, or a list of them, for the same value. */
const partKeywords = ['allOf', 'anyOf', 'oneOf', 'then', 'else']
/** A pattern is tried on names up to this length; a longer one is taken to fit, so that no file is missed. */
const mostNameChars = 100

/** The arguments with the paths of their files; INVALID_ARGUMENTS names each that isn't there. */
export async function withFileArguments (
  schema: JsonSchema, args: Record<string, unknown>, context: RunContext, source: FileSource
): Promise<{ args: Record<string, unknown> } | { error: CallError }> {
  if (!namesFiles(schema)) return { args }
  const search = new FileSearch(schema, context, source)
  let found: unknown
  try {
    found = await search.resolve(schema, args, '')
  } catch (error) {
    if (context.signal.aborted) return { error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    throw error
  }
  const [first] = search.issues
  if (first === undefined) return { args: isRecord(found) ? found : args }
  const more = search.issues.length > 1 ? ` (and ${search.issues.length - 1} more)` : ''
  return { error: { code: 'INVALID_ARGUMENTS', message: `${first.path.slice(1)}: ${first.message}${more}`, details: { issues: search.issues } } }
}

const namesFilesBySchema = new WeakMap<JsonSchema, boolean>()

function namesFiles (schema: JsonSchema): boolean {
  let names = namesFilesBySchema.get(schema)
  if (names === undefined) namesFilesBySchema.set(schema, names = JSON.stringify(schema).includes(`"${format}"`))
  return names
}

class FileSearch {
  readonly issues: Array<{ path: string, message: string }> = []
  readonly #root: JsonSchema
  readonly #context: RunContext
  readonly #workspace: WorkspaceSetting | undefined
  readonly #knownAs: string
  /** The schemas that each place of the arguments was looked at with. */
  readonly #seen = new Map<string, Set<object>>()
  #count = 0

  constructor (root: JsonSchema, context: RunContext, { workspaceDir, serviceFiles = [] }: FileSource) {
    const { session, tenant } = context
    this.#root = root
    this.#context = context
    this.#knownAs = workspaceDir
    // The shared workspace is the operator's.
    const shared = tenant === undefined ? { path: workspaceDir, serviceFiles } : undefined
    this.#workspace = session === undefined ? shared : { path: session.dir, serviceFiles: [] }
  }

  /** A value with its files looked up; arguments are checked against the schema already. */
  async resolve (schema: unknown, value: unknown, path: string): Promise<unknown> {
    if (!isRecord(schema) || this.#isSeen(schema, path)) return value
    let result = value
    for (const part of this.#partsOf(schema)) result = await this.resolve(part, result, path)
    if (typeof result === 'string') return schema['format'] === format ? await this.#look(result, path) : result
    if (Array.isArray(result)) return await this.#items(schema, result, path)
    return isRecord(result) ? await this.#fields(schema, result, path) : result
  }

  /** Choices and references of a schema can lead to a value in more ways than there is time for. */
  #isSeen (schema: object, path: string): boolean {
    const seen = this.#seen.get(path) ?? new Set()
    this.#seen.set(path, seen)
    return seen.size === seen.add(schema).size
  }

  /** What else holds for the same value, or may hold. */
  #partsOf (schema: Record<string, unknown>): unknown[] {
    const references = ['$ref', '$recursiveRef'].map(name => this.#definition(schema[name]))
    return [...references, ...partKeywords.flatMap(name => schema[name]), ...valuesOf(schema['dependentSchemas'])]
  }

  async #items (schema: Record<string, unknown>, values: unknown[], path: string): Promise<unknown[]> {
    const { prefixItems, items, additionalItems, unevaluatedItems, contains } = schema
    const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    const rest = (Array.isArray(items) ? additionalItems : items) ?? unevaluatedItems
    const results: unknown[] = []
    for (const [index, value] of values.entries()) {
      const at = `${path}/${index}`
      results.push(await this.resolve(contains, await this.resolve(first[index] ?? rest, value, at), at))
    }
    return results
  }

  async #fields (schema: Record<string, unknown>, fields: Record<string, unknown>, path: string): Promise<Record<string, unknown>> {
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema
    const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
    const entries: Array<[string, unknown]> = []
    for (const [name, value] of Object.entries(fields)) {
      const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const fitting = patterns.flatMap(([pattern, each]) => mayFit(name, pattern) ? [each] : [])
      const named = isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name], ...fitting] : fitting
      let result = value
      for (const each of named.length > 0 ? named : [additionalProperties ?? unevaluatedProperties]) {
        result = await this.resolve(each, result, at)
      }
      entries.push([name, result])
    }
    return Object.fromEntries(entries)
  }

  async #look (file: string, path: string): Promise<string> {
    this.#count += 1
    if (this.#count > limits.resultFiles) return this.#refuse(file, path, `a call names at most ${limits.resultFiles} files`)
    if (this.#workspace === undefined) return this.#refuse(file, path, 'a file is one of a session, and the call names none')
    const { signal } = this.#context
    const inside = file.startsWith(`${this.#knownAs}/`) ? file.slice(this.#knownAs.length + 1) : file
    try {
      return await atPlace({ workspace: this.#workspace, signal }, inside, { notFound: 'there is no such file' }, async ({ stats, relative }) => {
        if (stats?.isFile() === true) return await Promise.resolve(relative)
        throw new WorkspaceFailure('it is no file')
      })
    } catch (error) {
      const why = error instanceof WorkspaceFailure ? error.message : errorCode(error)
      if (why === undefined) throw error
      return this.#refuse(file, path, why)
    }
  }

  #refuse (file: string, path: string, why: string): string {
    if (this.issues.length < limits.resultFiles) this.issues.push({ path, message: `${shown(file)} can't be used: ${why}` })
    return file
  }

  #definition (reference: unknown): unknown {
    if (reference === '#') return this.#root
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
    let at: unknown = this.#root
    for (const name of reference.slice(2).split('/')) {
      const plain = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
      at = isRecord(at) && Object.hasOwn(at, plain) ? at[plain] : undefined
    }
    return at
  }
}

function valuesOf (map: unknown): unknown[] {
  return isRecord(map) ? Object.values(map) : []
}

function mayFit (name: string, pattern: string): boolean {
  try {
    return name.length > mostNameChars || new RegExp(pattern, 'u').test(name)
  } catch {
    // One with needless escapes, which schemas may have.
    return true
  }
}
