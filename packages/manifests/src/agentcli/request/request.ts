import { asError, isSecretVariable, withoutUndefined } from '@toolyard/contract/terms'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import type { HttpBody, HttpHeader, HttpQueryField, HttpRun } from '../../tool/tool.ts'
import type { DescribedRequest } from './definition.ts'
import { isCredential, looksSecret } from './secrets.ts'
import { readTextTemplate, readUrlTemplate, type RequestTarget } from './url-template.ts'

export const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers that the connection itself sets, or would be confused by. */
export const ownHeaders = new Set([
  'accept-encoding', 'connection', 'content-encoding', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer',
  'transfer-encoding', 'upgrade'
])
/** A tab, and what is neither a control character nor beyond Latin-1. */
const headerText = /^[\t\x20-\x7e\xa0-\xff]*$/
const setting = 'Put the value into an environment variable of the workers, and write {"setting": "NAME"}, or store it (toolyard secrets set NAME) and write {"secret": "NAME"}, with "prefix": "Bearer " where it needs one.'

/** A request after reading; without `run` where an error is among the findings. */
interface RequestReading {
  run?: HttpRun
  findings: Remark[]
}

/** Reads a request that is written out; `path` is where it stands. */
export function readRequest (request: DescribedRequest, path: DocumentPath): RequestReading {
  const findings: Remark[] = []
  const note = (rule: string) => (field: DocumentPath, message: string, fix: string): void => {
    findings.push({ severity: 'error', rule, path: [...path, ...field], message, fix })
  }
  const notes = { fault: note('http/request'), secret: note('http/secret') }
  const target = readTarget(request.url, notes)
  const query = readQuery(request.query ?? [], notes)
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => readHeader(name, value, notes))
  const body = bodyOf(request, notes)
  if (target === undefined || findings.length > 0) return { findings }
  return { run: { kind: 'http', method: request.method, ...target, query, headers, body }, findings }
}

type Note = (field: DocumentPath, message: string, fix: string) => void

interface Notes {
  fault: Note
  /** Of rules about secrets. */
  secret: Note
}

function readTarget (url: string, { fault, secret }: Notes): RequestTarget | undefined {
  try {
    const target = readUrlTemplate(url)
    for (const [name, value] of new URLSearchParams(target.search)) {
      if (looksSecret(name, value)) secret(['url'], `http.url has ${name}, which looks like a secret`, 'Take it out, and write {"name": ..., "setting": "NAME"} into query.')
    }
    return target
  } catch (error) {
    fault(['url'], `http.url ${asError(error).message}`, 'Write an https:// URL, with {name} in its path for each argument that belongs there.')
    return undefined
  }
}

function readQuery (items: NonNullable<DescribedRequest['query']>, { secret }: Notes): HttpQueryField[] {
  return items.map((item, at) => {
    if (typeof item === 'string') return { name: item, argument: item, style: 'repeat' }
    if ('argument' in item) return { name: item.name ?? item.argument, argument: item.argument, style: item.style ?? 'repeat' }
    if ('secret' in item) return { name: item.name, setting: item.secret, stored: true }
    if (isSecretVariable(item.setting)) secret(['query', at], `http.query[${at}] takes ${item.setting}, which is a secret of the service`, 'Give the API a secret of its own under another name.')
    return { name: item.name, setting: item.setting }
  })
}

function readHeader (name: string, value: NonNullable<DescribedRequest['headers']>[string], { fault, secret }: Notes): HttpHeader {
  const field = ['headers', name]
  const says = `http.headers.${name}`
  if (!headerName.test(name)) fault(field, `${says} has a name that can't be sent`, 'Correct the name.')
  if (ownHeaders.has(name.toLowerCase())) fault(field, `${says} is a header that the connection sets`, 'Remove it.')
  if (typeof value !== 'string') {
    if ('setting' in value && isSecretVariable(value.setting)) secret(field, `${says} takes ${value.setting}, which is a secret of the service`, 'Give the API a secret of its own under another name.')
    if (!headerText.test(value.prefix ?? '')) fault([...field, 'prefix'], `${says}.prefix holds what no header can carry`, 'Write one line of Latin-1.')
    const from = 'secret' in value ? { setting: value.secret, stored: true as const } : { setting: value.setting }
    return { name, ...from, prefix: value.prefix ?? '', base64: value.base64 === true }
  }
  const parts = readTextTemplate(value)
  const fixed = parts.filter(part => typeof part === 'string').join('')
  if (parts.length > (fixed === '' ? 0 : 1) && isCredential(name)) secret(field, `${says} is a credential, and takes it from a call: it would be in jobs and logs`, setting)
  else if (looksSecret(name, fixed)) secret(field, `${says} looks like a secret, and stands in the manifest`, setting)
  if (!headerText.test(fixed)) fault(field, `${says} holds what no header can carry`, 'Write one line of Latin-1.')
  return { name, parts }
}

/** Without a word about the body, the method says where the other arguments go. */
function bodyOf ({ method, body }: DescribedRequest, { fault }: Notes): HttpBody {
  if (body === undefined) return { kind: ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method) ? 'none' : 'json', always: false }
  if (body === 'none') return { kind: 'none', always: false }
  if (method === 'HEAD') fault(['body'], 'http.body: a HEAD request has none', 'Remove body, or write another method.')
  if (typeof body === 'string') return { kind: body, always: true }
  const { type, argument, styles } = body
  if (type === 'json' && styles !== undefined) fault(['body', 'styles'], 'http.body.styles is about the fields of a form', 'Remove it: JSON has lists and objects of its own.')
  return { kind: type, always: true, ...withoutUndefined({ argument, styles }) }
}
