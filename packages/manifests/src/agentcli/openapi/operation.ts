import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../../tool/tool.ts'
import { readRequest } from '../request/request.ts'
import { isCredential } from '../request/secrets.ts'
import { dereferenced, OpenapiFault, text20, type OpenapiDocument } from './document.ts'
import { parametersOf, placeParameters, type ArgumentsDraft, type Parameter, type QueryDraft } from './parameters.ts'
import { placeBody, type BodyDraft } from './request-body.ts'
import { SchemaConverter, withToldDefaults } from './schema.ts'
import { isSentBy, secretsOf, type SecretDraft } from './security.ts'

const methods = { get: 'GET', head: 'HEAD', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE', options: 'OPTIONS' } as const
const methodNames = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const
/** Providers take a description of so many. */
const descriptionChars = 1_024

export interface OperationPlace {
  /** `operationId`; empty when it has none. */
  id: string
  method: keyof typeof methods
  path: string
  item: Record<string, unknown>
  operation: Record<string, unknown>
}

/** A secret of a request, or what stands before an argument. */
export interface RequestDraft {
  method: typeof methods[keyof typeof methods]
  url: string
  query?: Array<QueryDraft | { name: string, setting: string }>
  headers?: Record<string, string | { setting: string, prefix?: string, base64?: true }>
  body?: BodyDraft
}

/** An entry of a manifest but for its name. */
export interface OperationDraft {
  description: string
  schema: JsonSchema
  http: RequestDraft
  /** Parts of the document that are left out. */
  notes: string[]
  /** Environment variables, and what belongs into them. */
  settings: Map<string, string>
  /** A server that was made with defaults of variables, and their names: often an example alone. */
  assumed?: string
}

interface OperationOptions {
  /** In place of the document's own servers. */
  server?: string
  settingOf: (scheme: string) => string
  patterns?: boolean
}

/** @param unread is told of each path that can't be read, and why. */
export function operationsOf (document: OpenapiDocument, unread: (path: string, fault: OpenapiFault) => void = () => {}): OperationPlace[] {
  const { paths } = document.root
  return Object.entries(isRecord(paths) ? paths : {}).filter(([path]) => !path.startsWith('x-')).flatMap(([path, written]) => {
    const item = itemAt(document, written, fault => { unread(path, fault) })
    return methodNames.flatMap(method => {
      const operation = item[method]
      if (!isRecord(operation)) return []
      const { operationId: id } = operation
      return [{ id: typeof id === 'string' ? id : '', method, path, item, operation }]
    })
  })
}

function itemAt (document: OpenapiDocument, written: unknown, unread: (fault: OpenapiFault) => void): Record<string, unknown> {
  try {
    return dereferenced(document, written)
  } catch (error) {
    if (!(error instanceof OpenapiFault)) throw error
    unread(error)
    return {}
  }
}

/** Makes an entry of an operation. @throws OpenapiFault with the reason why it can't be one. */
export function operationDraft (document: OpenapiDocument, place: OperationPlace, options: OperationOptions): OperationDraft {
  const { item, operation, method } = place
  const path = sentPath(place.path)
  const { server, settingOf, patterns = true } = options
  const converter = new SchemaConverter(document, { patterns })
  const draft: ArgumentsDraft = { properties: {}, required: [], query: [], headers: {}, path: new Map(), taken: new Set() }
  const described = withPathNames(parametersOf(document, item, operation), path)
  const secrets = [...secretsOf(document, operation)]
  secrets.push(...described.filter(each => isNeededCredential(each) && !secrets.some(secret => isSentBy(secret, each))).map(headerSecret))
  placeParameters(described.filter(each => !secrets.some(secret => isSentBy(secret, each))), draft, converter)
  const body = placeBody(document, operation['requestBody'], draft, converter)
  const { properties, required } = draft
  const settings = new Map<string, string>()
  const headers: NonNullable<RequestDraft['headers']> = { ...draft.headers }
  const query: NonNullable<RequestDraft['query']> = [...draft.query]
  for (const { scheme, says, place: at } of secrets) {
    const setting = settingOf(scheme)
    settings.set(setting, says)
    if (at.in === 'query') query.push({ name: at.name, setting })
    else headers[at.name] = { setting, ...at.prefix !== undefined && { prefix: at.prefix }, ...at.base64 === true && { base64: true } }
  }
  const template = path.replace(/\{([^{}]*)\}/g, (_, name: string) => `{${draft.path.get(name) ?? name}}`)
  const given = server === undefined ? undefined : { origin: usableServer(server), variables: [] }
  const { origin, variables } = given ?? serverOf([operation, item, document.root])
  const http: RequestDraft = {
    method: methods[method],
    url: `${origin}${template.startsWith('/') ? '' : '/'}${template}`,
    ...query.length > 0 && { query },
    ...Object.keys(headers).length > 0 && { headers },
    ...body !== undefined && { body }
  }
  const [fault] = readRequest(http, []).findings
  if (fault !== undefined) throw new OpenapiFault(`can't be an entry: ${fault.message}`)
  const description = descriptionOf(operation)
  const isLong = description.length > descriptionChars
  return {
    description: (isLong ? shortened(description) : description) || `${methods[method]} ${path}`.slice(0, descriptionChars),
    schema: withToldDefaults({ type: 'object', properties, ...required.length > 0 && { required }, additionalProperties: false }),
    http,
    notes: [...isLong ? [`its description of ${description.length} characters is cut to ${descriptionChars}`] : [], ...converter.notes],
    settings,
    ...variables.length > 0 && { assumed: `${origin} (${variables.map(text20).join(', ')})` }
  }
}

/** A fragment such as `#Action=Run` tells operations of one path apart, whose parameters say the same. What begins with `#/` is a page. */
function sentPath (path: string): string {
  return path.replace(/#(?!\/).*$/s, '')
}

/** A credential that an operation asks for as a parameter, in place of a security scheme. */
function isNeededCredential ({ in: place, name, required }: Parameter): boolean {
  return place === 'header' && required && isCredential(name)
}

function headerSecret ({ name }: Parameter): SecretDraft {
  return { scheme: name, says: `the value of the header ${text20(name)}`, place: { in: 'header', name } }
}

/** A name in the path that no parameter describes is a text. */
function withPathNames (parameters: ReturnType<typeof parametersOf>, path: string): ReturnType<typeof parametersOf> {
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  // A parameter that the path doesn't have can't be sent.
  const there = parameters.filter(({ in: place, name }) => place !== 'path' || names.includes(name))
  const missing = names.filter(name => !there.some(each => each.in === 'path' && each.name === name))
  return [...missing.map(name => ({ in: 'path', name, required: true, fields: { schema: { type: 'string' } } })), ...there]
}

/** The first server that can be used, of those that are named nearest to the operation. */
function serverOf (places: ReadonlyArray<Record<string, unknown>>): Server {
  const lists = places.map(({ servers }): unknown[] => Array.isArray(servers) ? servers : [])
  const nearest = lists.find(servers => servers.length > 0) ?? [undefined]
  let first: OpenapiFault | undefined
  for (const server of nearest) {
    try {
      return readServer(server)
    } catch (error) {
      if (!(error instanceof OpenapiFault)) throw error
      first ??= error
    }
  }
  throw first ?? new OpenapiFault('names no server: say which one with --server URL')
}

interface Server { origin: string, variables: string[] }

function readServer (server: unknown): Server {
  const { url, variables } = isRecord(server) ? server : {}
  const values = isRecord(variables) ? variables : {}
  const used: string[] = []
  const origin = usableServer((typeof url === 'string' ? url : '').replace(/\{([^{}]*)\}/g, (written, name: string) => {
    const variable = Object.hasOwn(values, name) ? values[name] : undefined
    if (!isRecord(variable) || typeof variable['default'] !== 'string') return written
    used.push(name)
    return variable['default']
  }))
  return { origin, variables: used }
}

function usableServer (named: string): string {
  // A server without a scheme has that of the document, which nobody should have read without https.
  const written = named.replace(/^\/\//, 'https://')
  const isUsable = /^https?:\/\/[^{}]*$/i.test(written) && URL.canParse(written)
  if (!isUsable) throw new OpenapiFault(`names no server${written === '' ? '' : ` but ${text20(written)}`}: say which one with --server URL`)
  return written.replace(/[?#].*$/s, '').replace(/(?<!\/)\/+$/, '')
}

function descriptionOf ({ summary, description, deprecated }: Record<string, unknown>): string {
  const said = deprecated === true ? 'Deprecated.' : ''
  const texts = [said, summary, description].filter(text => typeof text === 'string' && text.trim() !== '')
  return [...new Set(texts)].join('\n\n').trim()
}

/** Ends behind a word, where one ends near the bound, and shows that there was more. */
function shortened (text: string): string {
  const cut = text.slice(0, descriptionChars - 2)
  const end = Math.max(...[' ', '\n'].map(blank => cut.lastIndexOf(blank)))
  return `${cut.slice(0, end < cut.length / 2 ? undefined : end).trimEnd().replace(/[\ud800-\udbff]$/, '')} …`
}
