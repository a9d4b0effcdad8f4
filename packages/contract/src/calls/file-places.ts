import { writtenLike } from '../json/written.ts'
import { pointerTarget, pointerToken } from '../terms/json-pointer.ts'
import { isRecord } from '../value/record.ts'

/** A value with all schemas that hold for it, or may hold. */
interface Place<Value = unknown> {
  value: Value
  schemas: readonly SchemaObject[]
  name: string | number
  parent: Place | undefined
}

/** A pattern of names; `places` are the steps that one letter may take. */
interface NamePattern {
  test (text: string): boolean
  places: number
}

export interface FileSearch {
  /** Compiles a pattern of a schema that was accepted, so that no name takes it long: one that might fits every name. */
  compile: (source: string) => NamePattern
  /** Counts what is gone through, at most `mostFileSteps`, and shares the event loop. */
  turns: { isOver: (count?: number) => boolean, next: () => Promise<void> }
}

/** A text in arguments that names a file. */
export type FilePlace = Place<string>

type SchemaObject = Record<string, unknown>

const format = 'session-file'
/** Keywords with a schema, or a list of them, for the same value. */
const partKeywords = ['allOf', 'anyOf', 'oneOf', 'then', 'else']
/** A pattern is tried on names up to this length; a longer one is taken to fit, so that no file is missed. */
const mostNameChars = 100
/** Values multiplied by their schemas, and what patterns need for names: some seconds. */
export const mostFileSteps = 5_000_000

/** Where arguments name files. Each value is looked at once, with all schemas that lead to it. */
export class FilePlaces {
  readonly #root: SchemaObject
  readonly #turns: FileSearch['turns']
  readonly #compile: FileSearch['compile']
  #isDue = false
  readonly #patterns = new Map<string, NamePattern>()

  constructor (root: SchemaObject, { compile, turns }: FileSearch) {
    this.#root = root
    this.#compile = compile
    this.#turns = turns
  }

  /** Those of the arguments in their order, `most` and one more at most. @throws what the turns throw where it is too much. */
  async find (args: Record<string, unknown>, most: number): Promise<FilePlace[]> {
    const found: FilePlace[] = []
    const open: Place[] = [{ value: args, schemas: this.#withParts([this.#root]), name: '', parent: undefined }]
    for (let place = open.pop(); place !== undefined && found.length <= most; place = open.pop()) {
      const { value, schemas } = place
      await this.#breathe(schemas.length + 1)
      if (typeof value === 'string') found.push({ ...place, value })
      else {
        const inner = Array.isArray(value)
          ? await this.#items(place, value, most)
          : isRecord(value) ? await this.#fields(place, value, most) : []
        for (const each of inner.reverse()) open.push(each)
      }
    }
    // Who goes on has large arguments to write.
    await this.#turns.next()
    return found
  }

  /** Ends at the first text beyond `most`: there are too many then. */
  async #items (parent: Place, values: unknown[], most: number): Promise<Place[]> {
    const rest = this.#withParts(parent.schemas.flatMap(({ items, additionalItems, unevaluatedItems, contains }) => (
      [(Array.isArray(items) ? additionalItems : items) ?? unevaluatedItems, contains]
    )))
    const tuples = parent.schemas.flatMap(({ prefixItems, items }) => [prefixItems, items].filter(Array.isArray))
    const places: Place[] = []
    const namesFile = mayBeFile(rest)
    let texts = 0
    for (const [name, value] of values.entries()) {
      await this.#breathe()
      if (texts > most) break
      const own: unknown[] = tuples.flatMap((tuple: unknown[]) => name < tuple.length ? [tuple[name]] : [])
      if (own.length > 0) addPlace(places, { value, schemas: this.#withParts([...own, ...rest]), name, parent })
      else if (typeof value === 'string' ? namesFile : rest.length > 0) addPlace(places, { value, schemas: rest, name, parent })
      if (typeof value === 'string' && namesFile) texts += 1
    }
    return places
  }

  /** Ends like `#items`. Most fields have the same schemas as the one before. */
  async #fields (parent: Place, fields: SchemaObject, most: number): Promise<Place[]> {
    const places: Place[] = []
    let last: { own: readonly unknown[], schemas: readonly SchemaObject[] } = { own: [], schemas: [] }
    let texts = 0
    for (const name of Object.keys(fields)) {
      await this.#breathe(parent.schemas.length + 1)
      if (texts > most) break
      const value = fields[name]
      if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) continue
      const own = parent.schemas.flatMap(schema => this.#forField(schema, name))
      if (own.length !== last.own.length || own.some((each, at) => each !== last.own[at])) last = { own, schemas: this.#withParts(own) }
      addPlace(places, { value, schemas: last.schemas, name, parent })
      if (typeof value === 'string' && mayBeFile(last.schemas)) texts += 1
    }
    return places
  }

  #forField ({ properties, patternProperties, additionalProperties, unevaluatedProperties }: SchemaObject, name: string): unknown[] {
    const own: unknown[] = isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
    if (isRecord(patternProperties)) {
      for (const [source, each] of Object.entries(patternProperties)) if (this.#mayFit(name, source)) own.push(each)
    }
    return own.length > 0 ? own : [additionalProperties ?? unevaluatedProperties]
  }

  #mayFit (name: string, source: string): boolean {
    if (name.length > mostNameChars) return true
    const pattern = this.#patterns.get(source) ?? this.#compile(source)
    this.#patterns.set(source, pattern)
    if (this.#turns.isOver(name.length * Math.max(1, pattern.places))) this.#isDue = true
    return pattern.test(name)
  }

  /** Counts values, and lets others have a turn when one is due. */
  async #breathe (count = 1): Promise<void> {
    if (!this.#turns.isOver(count) && !this.#isDue) return
    this.#isDue = false
    await this.#turns.next()
  }

  /** Other schemas that hold for the same value, or may hold. */
  #withParts (schemas: readonly unknown[]): SchemaObject[] {
    const all = new Set<SchemaObject>()
    const open = [...schemas].reverse()
    while (open.length > 0) {
      const schema = open.pop()
      if (!isRecord(schema) || all.has(schema)) continue
      all.add(schema)
      const references = ['$ref', '$recursiveRef'].map(name => pointerTarget(this.#root, String(schema[name])))
      const { dependentSchemas } = schema
      const dependent = isRecord(dependentSchemas) ? Object.values(dependentSchemas) : []
      open.push(...references, ...partKeywords.flatMap(name => schema[name]), ...dependent)
    }
    return [...all]
  }
}

/** Texts that name no file, and numbers, have nothing to look at. */
function addPlace (places: Place[], place: Place): void {
  const { value, schemas } = place
  if (typeof value === 'string' ? mayBeFile(schemas) : typeof value === 'object' && value !== null && schemas.length > 0) places.push(place)
}

function mayBeFile (schemas: readonly SchemaObject[]): boolean {
  return schemas.some(schema => schema['format'] === format)
}

export function pathOf ({ name, parent }: Place): string {
  return parent === undefined ? '' : `${pathOf(parent)}/${pointerToken(String(name))}`
}

/** Puts files into a copy of arguments, of which only what holds them is copied. */
export function withFiles (args: Record<string, unknown>, files: ReadonlyMap<FilePlace, string>): Record<string, unknown> {
  const whole = { ...args }
  const copies = new Map<unknown, object>([[args, whole]])
  const copyOf = ({ value, name, parent }: Place): object => {
    const known = copies.get(value)
    if (known !== undefined || parent === undefined) return known ?? {}
    const copy: object = Array.isArray(value) ? writtenLike([...value as unknown[]], value) : isRecord(value) ? { ...value } : {}
    copies.set(value, copy)
    Reflect.set(copyOf(parent), name, copy)
    return copy
  }
  for (const [{ name, parent }, file] of files) if (parent !== undefined) Reflect.set(copyOf(parent), name, file)
  return whole
}

const namesFilesBySchema = new WeakMap<SchemaObject, boolean>()

/** Whether a schema names files at all: most don't. */
export function namesFiles (schema: SchemaObject): boolean {
  let names = namesFilesBySchema.get(schema)
  if (names === undefined) namesFilesBySchema.set(schema, names = JSON.stringify(schema).includes(`"${format}"`))
  return names
}
