import { around, withNumbers, WrittenNumber, writeJson, writtenLike, isSecretVariable } from '@toolyard/contract/terms'
import type { HttpHeader, HttpRun, HttpQueryField } from '@toolyard/manifests'
import { isHeaderText } from '../../run/header-secret.ts'
import type { TraceFields } from '../../run/trace-fields.ts'
import { argumentOf, argumentText, encoded, invalid, requireFewValues } from './argument-text.ts'
import { RequestFault } from './request-fault.ts'

/** Levels of objects in one argument. */
const mostLevels = 20

/** Servers read control characters in a path as they like. */
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/

export interface BuiltRequest {
  method: HttpRun['method']
  url: URL
  headers: Record<string, string>
  body?: string
  secrets: RequestSecrets
}

/** What no answer may bring back to the caller. */
export interface RequestSecrets {
  values: readonly string[]
  /** Texts with a value in them, as they are sent. */
  sent: readonly string[]
}

type Arguments = Readonly<Record<string, unknown>>

const standard = { 'user-agent': 'Toolyard/0.1', accept: 'application/json, text/*;q=0.9, */*;q=0.5' }

interface Beside {
  trace?: TraceFields
  secrets?: ReadonlyMap<string, string> | undefined
}

/**
 * Makes the request of one call: each argument goes where the manifest says, and nowhere else.
 *
 * @throws RequestFault for an argument that can't be sent, or a secret that this worker doesn't have.
 */
export function buildRequest (
  run: HttpRun, given: Arguments, env: NodeJS.ProcessEnv, { trace = {}, secrets = new Map() }: Beside = {}
): BuiltRequest {
  const args = withNumbers(given)
  const settings = new SettingValues(env, secrets)
  const path = expandPath(run.path, args)
  const named = namedArguments(run)
  const rest = Object.entries(args).filter(([name, value]) => value !== undefined && !named.has(name))
  const query = run.query.flatMap(field => {
    if ('setting' in field) return [`${encodeURIComponent(field.name)}=${encoded(settings.read(field.setting, field.stored), field.setting)}`]
    const value = argumentOf(args, field.argument)
    return value === undefined ? [] : queryParts(value, field)
  })
  const toQuery = run.body.kind === 'none' || run.body.argument !== undefined
  if (toQuery) query.push(...rest.filter(([, value]) => value !== null).flatMap(([name, value]) => queryParts(value, { name, argument: name, style: 'repeat' })))
  const body = bodyOf(run, args, toQuery ? [] : rest)
  const headers = headersOf(run, args, settings)
  const search = [run.search.slice(1), ...query].filter(part => part !== '').join('&')
  const url = new URL(`${run.origin}${path}${search === '' ? '' : `?${search}`}`)
  // An invariant: nothing above can change these.
  if (url.origin !== run.origin || url.pathname !== path || url.hash !== '') throw new RequestFault('INVALID_ARGUMENTS', 'Arguments do not fit the request: they change where it goes')
  return {
    method: run.method,
    url,
    headers: { ...standard, ...trace, ...body?.headers, ...headers.all, 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body: body.text }),
    secrets: { values: settings.values, sent: headers.secrets }
  }
}

/** Arguments that have a place of their own. */
function namedArguments (run: HttpRun): ReadonlySet<string> {
  const parts = [...run.path, ...run.query, ...run.headers.flatMap(header => 'parts' in header ? header.parts : []), run.body]
  return new Set(parts.flatMap(part => typeof part === 'object' && 'argument' in part && part.argument !== undefined ? [part.argument] : []))
}

function headersOf (run: HttpRun, args: Arguments, settings: SettingValues): { all: Record<string, string>, secrets: string[] } {
  const all: Record<string, string> = {}
  const secrets: string[] = []
  for (const header of run.headers) {
    const value = 'setting' in header ? secretHeader(header, settings) : textHeader(header, args)
    if (value === undefined) continue
    // Names of headers have no case.
    all[header.name.toLowerCase()] = value
    if ('setting' in header) secrets.push(value)
  }
  return { all, secrets }
}

function secretHeader ({ setting, stored, prefix, base64 }: Extract<HttpHeader, { setting: string }>, settings: SettingValues): string {
  const value = settings.read(setting, stored)
  if (!base64 && !isHeaderText(value)) throw new RequestFault('TOOL_UNAVAILABLE', `${stored === true ? `the secret ${setting}` : `the environment variable ${setting} of this worker`} holds what no header can carry, such as a line break`)
  return `${prefix}${base64 ? Buffer.from(value).toString('base64') : value}`
}

/** A header whose argument is missing isn't sent. */
function textHeader ({ name, parts }: Extract<HttpHeader, { parts: unknown }>, args: Arguments): string | undefined {
  const texts: string[] = []
  for (const part of parts) {
    const value = typeof part === 'string' ? part : argumentOf(args, part.argument)
    if (value === undefined) return undefined
    const text = argumentText(value, typeof part === 'string' ? name : part.argument)
    if (typeof part !== 'string' && !isHeaderText(text)) throw invalid(part.argument, 'holds what no header can carry: a line break, or a letter beyond Latin-1')
    texts.push(text)
  }
  return texts.join('')
}

interface BodyText {
  text: string
  headers: Record<string, string>
}

function bodyOf ({ body, method }: HttpRun, args: Arguments, rest: ReadonlyArray<[string, unknown]>): BodyText | undefined {
  if (body.kind === 'none' || method === 'HEAD') return undefined
  const value = body.argument === undefined ? writtenLike(around(Object.fromEntries(rest)), args) : argumentOf(args, body.argument)
  if (value === undefined || (body.argument === undefined && rest.length === 0 && !body.always)) return undefined
  if (body.kind === 'json') return { text: writeJson(value), headers: { 'content-type': 'application/json' } }
  return { text: formText(value, body), headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}

function formText (value: unknown, { argument = '', styles = {} }: HttpRun['body']): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof WrittenNumber) throw invalid(argument, 'must be an object, whose fields make the form')
  return Object.entries(value).filter(([, item]) => item !== null && item !== undefined)
    .flatMap(([name, item]) => queryParts(item, { name, argument: argument === '' ? name : argument, style: Object.hasOwn(styles, name) ? styles[name] ?? 'repeat' : 'repeat' })).join('&')
}

/**
 * The path with its arguments. Each is a part of its segment, whatever it contains: it adds none, takes
 * none away, and begins no query. Some servers decode `%2F` before they look at `..`, so an argument holds no such step
 * either.
 *
 * @throws RequestFault for an argument that is missing, empty, or can't be a part of one segment.
 */
function expandPath (path: HttpRun['path'], args: Readonly<Record<string, unknown>>): string {
  const expanded = path.map(part => typeof part === 'string' ? part : segmentPart(part.argument, args)).join('')
  const [blamed = ''] = path.flatMap(part => typeof part === 'string' ? [] : [part.argument])
  // The parser of URLs takes away what it reads as `.` and `..`, in every spelling.
  if (new URL(`http://host${expanded}`).pathname !== expanded) throw invalid(blamed, 'makes a step such as .. of a part of the path')
  return expanded
}

function segmentPart (name: string, args: Readonly<Record<string, unknown>>): string {
  const value = argumentOf(args, name)
  if (value === undefined) throw invalid(name, 'is missing: it is a part of the path')
  const text = argumentText(value, name)
  if (text === '') throw invalid(name, 'is empty: it is a part of the path')
  if (control.test(text)) throw invalid(name, 'holds a control character, which has no place in a path')
  if (text.split(/[/\\]/).some(step => step === '.' || step === '..')) throw invalid(name, 'holds a step such as .. of a path')
  return argumentText(value, name, each => encoded(each, name))
}

/** One argument in a query or a form, as `name=value` parts that are ready to be sent; none for an empty list. */
function queryParts (value: unknown, { name, argument, style }: Extract<HttpQueryField, { argument: string }>): string[] {
  const pair = (text: string): string => `${encoded(name, argument)}=${encoded(text, argument)}`
  if (style === 'json') return [pair(writeJson(value))]
  requireFewValues(value, argument)
  if (Array.isArray(value)) {
    const items = value.filter(item => item !== null)
    if (style === 'deepObject') return objectParts(value, name, argument, 0)
    if (style === 'repeat') return items.map(item => pair(isObject(item) ? writeJson(item) : argumentText(item, argument)))
    if (items.length === 0) return []
    const separator = { comma: ',', space: '%20', pipe: '|' }[style]
    return [`${encoded(name, argument)}=${items.map(item => encoded(argumentText(item, argument), argument)).join(separator)}`]
  }
  if (isObject(value)) return objectParts(value, name, argument, 0)
  return [pair(argumentText(value, argument))]
}

/** `name[key]=value`, however deep; a list has its places as keys. */
function objectParts (value: object, name: string, argument: string, level: number): string[] {
  return Object.entries(value).filter(([, item]) => item !== null && item !== undefined).flatMap(([key, item]) => {
    const inner = `${name}[${key}]`
    if (isObject(item) && level < mostLevels) return objectParts(item, inner, argument, level + 1)
    return [`${encoded(inner, argument)}=${encoded(argumentText(item, argument), argument)}`]
  })
}

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof WrittenNumber)
}

/** Reads settings for one request, and remembers what must not come back from it. */
export class SettingValues {
  readonly #env: NodeJS.ProcessEnv
  readonly #stored: ReadonlyMap<string, string>
  readonly #values = new Set<string>()

  /** @param stored values of stored secrets, by name. */
  constructor (env: NodeJS.ProcessEnv, stored: ReadonlyMap<string, string>) {
    this.#env = env
    this.#stored = stored
  }

  /** The value of a stored secret, or of an environment variable of the worker. @throws RequestFault when there is none. */
  read (name: string, isStored = false): string {
    const value = isStored ? this.#stored.get(name) : isSecretVariable(name) ? undefined : this.#env[name]
    if (value === undefined || value === '') throw new RequestFault('TOOL_UNAVAILABLE', `the request needs the environment variable ${name}, which this worker doesn't have`)
    this.#values.add(value)
    return value
  }

  /** Those that were read. */
  get values (): readonly string[] {
    return [...this.#values]
  }
}
