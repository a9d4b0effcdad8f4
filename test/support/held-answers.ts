import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { closedDocument } from './closed-document.ts'
import type { Send } from './client.ts'
import type { DocumentedOperation, OpenApiDocument } from './openapi.ts'

/** No operations of OpenAPI: pages, and a protocol of its own. */
const leftOut = /^\/(?:dashboard|docs|mcp|\.well-known)(?:[/?]|$)/

/** A document, and the checks of its answers as far as they were needed. */
interface Held {
  etag: string
  document: OpenApiDocument
  ajv: Ajv2020
  checks: Map<string, ValidateFunction>
}

/** An answer that isn't as the document says. */
class UndocumentedAnswer extends Error {
  override readonly name = 'UndocumentedAnswer'
}

/**
 * Sends requests, and holds each answer against the document of the service: its path, method, status, type, and every
 * field of its body.
 *
 * @param key one that sees all tools.
 * @throws UndocumentedAnswer
 */
export function holdAnswers (send: Send, key: string): Send {
  let held: Held | undefined
  const current = async (): Promise<Held | undefined> => {
    const answer = await send('/openapi.json', { headers: { 'x-api-key': key, ...(held === undefined ? {} : { 'if-none-match': held.etag }) } })
    // Without authentication, of another host, or while the service stops there is nothing to hold answers against.
    if (answer.status === 200) held = newHeld(await answer.json() as OpenApiDocument, answer.headers.get('etag') ?? '')
    return held
  }
  return async (path, init) => {
    const response = await send(path, init)
    if (leftOut.test(path)) return response
    // The tools of now: a test may have changed them.
    const against = held !== undefined && !path.startsWith('/v1/tools/') ? held : await current()
    if (against !== undefined) await hold(against, init.method ?? 'GET', path, response.clone())
    return response
  }
}

function newHeld (document: OpenApiDocument, etag: string): Held {
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, validateSchema: false, meta: false })
  return { etag, document, ajv: ajv.addSchema({ ...closedDocument(document), $id: 'document:' }), checks: new Map() }
}

async function hold (held: Held, method: string, path: string, response: Response): Promise<void> {
  const what = `${method} ${path.slice(0, 200)} answered ${response.status}`
  const found = find(held.document, path, method.toLowerCase())
  if (found === undefined) {
    if (![400, 404].includes(response.status)) throw new UndocumentedAnswer(`${what}, and the document has no such operation`)
    return
  }
  const { operation, pointer } = found
  const documented = operation.responses[response.status]
  if (documented === undefined) throw new UndocumentedAnswer(`${what}, and the document says: ${Object.keys(operation.responses).join()}`)
  if (response.headers.get('x-request-id') === null) throw new UndocumentedAnswer(`${what} without x-request-id`)
  const at = documented.$ref?.slice(1) ?? `${pointer}/responses/${response.status}`
  const { content = {} } = documented.$ref === undefined ? documented : held.document.components.responses[documented.$ref.split('/').at(-1) ?? ''] ?? {}
  const text = method === 'HEAD' ? '' : await response.text()
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (text === '' && (content[type] === undefined || method === 'HEAD')) return
  if (content[type] === undefined) throw new UndocumentedAnswer(`${what} with ${type}, and the document says: ${Object.keys(content).join()}`)
  if (type !== 'application/json') return
  const check = checkOf(held, `${at}/content/application~1json/schema`)
  if (check(JSON.parse(text))) return
  throw new UndocumentedAnswer(`${what} with another body than the document says: ${held.ajv.errorsText(check.errors)}\n${text.slice(0, 2_000)}`)
}

function checkOf ({ ajv, checks }: Held, pointer: string): ValidateFunction {
  const check = checks.get(pointer) ?? ajv.compile({ $ref: `document:#${pointer}` })
  checks.set(pointer, check)
  return check
}

/** The operation that a request is for: a path without parameters goes first. */
function find ({ paths }: OpenApiDocument, url: string, method: string): { operation: DocumentedOperation, pointer: string } | undefined {
  const [path = ''] = url.split('?', 1)
  const names = Object.keys(paths).sort((left, right) => Number(left.includes('{')) - Number(right.includes('{')))
  const name = names.find(each => new RegExp(`^${each.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
  const operation = name === undefined ? undefined : paths[name]?.[method === 'head' ? 'get' : method]
  if (name === undefined || operation === undefined) return undefined
  const token = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
  return { operation, pointer: `/paths/${token}/${method === 'head' ? 'get' : method}` }
}
