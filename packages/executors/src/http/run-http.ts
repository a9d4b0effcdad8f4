import { errorCode, hiddenText, isRecord, thrownAs } from '@toolyard/contract/terms'
import type { HttpRun } from '@toolyard/manifests'
import { openConnections, type Connections } from '@toolyard/runtime/connections'
import { AddressRefusedError, isListedHost, startTimeLimit } from '@toolyard/runtime/outgoing'
import { isShortage, shortageError } from '@toolyard/sandbox'
import { request, type Dispatcher } from 'undici'
import { secretForms } from '../result/secret-forms.ts'
import type { SharedForms } from '../result/shared-forms.ts'
import { interruptionError } from '../run/interruption.ts'
import { ownerOfCall, type Outcome } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { traceFields } from '../run/trace-fields.ts'
import { EncodingError } from './answer/decoded-body.ts'
import { readAnswer } from './answer/read-answer.ts'
import { headerChars, redirectTarget } from './answer/response-head.ts'
import { buildRequest, type BuiltRequest } from './request/build-request.ts'
import { RequestFault } from './request/request-fault.ts'

interface Seen {
  bytes: number
  truncated: boolean
}

const maxRedirects = 5

/**
 * Makes the request of an HTTP tool: only to the origin of its manifest entry, under the timeout of the context. At its
 * end, whatever that is, its connection is closed. Writes one audit line, without arguments and secrets.
 */
export async function runHttp (run: HttpRun, call: ToolCall, shared: SharedForms<readonly string[]>): Promise<Outcome> {
  const begun = performance.now()
  const seen: Seen = { bytes: 0, truncated: false }
  const outcome = await answerOf(run, call, { seen, shared })
  call.audit.record({
    at: new Date(),
    tool: call.tool.name,
    job: call.context.jobId,
    // The template: only the hash shows the arguments.
    argv: [run.method, `${run.origin}${run.path.map(part => typeof part === 'string' ? part : `{${part.argument}}`).join('')}`],
    cwd: '',
    exit: outcome.ok ? 0 : isRecord(outcome.error.details) && outcome.error.details['status'] !== undefined ? 1 : -1,
    ms: Math.round(performance.now() - begun),
    stdoutBytes: seen.bytes,
    stderrBytes: 0,
    truncated: seen.truncated,
    envKeys: [...run.query, ...run.headers].flatMap(field => 'setting' in field ? [field.setting] : [])
  })
  return outcome
}

async function answerOf (
  run: HttpRun, { args, context, worker, maxOutputBytes }: ToolCall,
  { seen, shared }: { seen: Seen, shared: SharedForms<readonly string[]> }
): Promise<Outcome> {
  const { hostname, protocol } = new URL(run.origin)
  const { privateHosts, lookup } = worker.http
  const allowPrivate = isListedHost(privateHosts, hostname)
  const connections = openConnections({ allowPrivate, ...(lookup === undefined ? {} : { lookup }) })
  const limit = startTimeLimit(context.timeoutMs, context.signal)
  const interruption = (): Outcome | undefined => {
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    return limit.passed ? { ok: false, error: interruptionError({ kind: 'timeout', afterMs: context.timeoutMs }) } : undefined
  }
  try {
    const built = buildRequest(run, args, worker.env, { trace: traceFields(context.trace), secrets: context.secrets })
    connections.checkHost(hostname)
    if (protocol === 'http:' && !allowPrivate) throw new RequestFault('NOT_ALLOWED', 'http:// is for hosts of HTTP_PRIVATE_HOSTS; others need https://')
    const { values, sent } = built.secrets
    const makeForms = async (): Promise<readonly string[]> => await secretForms(values, sent)
    const { outcome, ...read } = await shared.use(JSON.stringify([values, sent]), makeForms, async hidden => {
      const response = await send(built, connections, { hidden, signal: limit.signal })
      return await readAnswer(response, {
        threads: worker.threads,
        owner: ownerOfCall(context),
        maxOutputBytes,
        signal: limit.signal,
        hidden,
        session: context.session
      })
    })
    Object.assign(seen, read)
    return interruption() ?? outcome
  } catch (error) {
    return interruption() ?? failureOf(error)
  } finally {
    limit.clear()
    await connections.close()
  }
}

/** Follows redirects within the origin. Elsewhere nothing is asked: the host is the manifest's, not the server's. */
async function send (
  built: BuiltRequest, { dispatcher }: Connections, { hidden, signal }: { hidden: readonly string[], signal: AbortSignal }
): Promise<Dispatcher.ResponseData> {
  let { url, method, body, headers } = built
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const options = { method, headers, ...(body === undefined ? {} : { body }), dispatcher, signal }
    const response = await request(url, options).catch((error: unknown) => {
      throw redirects === 0 && isShortage(error) ? notOpened(error) : error
    })
    const location = redirectTarget(response)
    const becomesGet = response.statusCode === 303 && method !== 'HEAD'
    const follows = becomesGet || [307, 308].includes(response.statusCode) || method === 'GET' || method === 'HEAD'
    if (location === undefined || !follows) return response
    response.body.on('error', () => {}).destroy()
    url = redirected(location, url, hidden)
    if (becomesGet && method !== 'GET') {
      method = 'GET'
      body = undefined
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-type'))
    }
  }
  throw new RequestFault('TOOL_FAILED', `more than ${maxRedirects} redirects: name the address that they lead to`)
}

/** No connection could be opened for want of descriptors: nothing has left the worker. */
function notOpened (error: unknown): RequestFault {
  const { code, message, details } = shortageError(errorCode(error) ?? '', 'open a connection')
  return new RequestFault(code, message, isRecord(details) ? details : undefined)
}

function redirected (location: string, from: URL, hidden: readonly string[]): URL {
  if (!URL.canParse(location, from.href)) throw new RequestFault('TOOL_FAILED', 'the API redirects to what is no URL')
  const url = new URL(location, from)
  if (url.origin === from.origin && url.username === '' && url.password === '') return url
  const origin = url.origin === 'null' ? url.protocol : url.origin
  // An origin is in lower case, and so would be a secret in it.
  const shown = hidden.some(text => origin.includes(text.toLowerCase())) ? hiddenText : origin.slice(0, headerChars)
  throw new RequestFault('NOT_ALLOWED', `the API redirects to another origin, ${shown}, which the manifest does not name`)
}

/** Says what happened without repeating headers, the URL or addresses. */
function failureOf (error: unknown): Outcome {
  const failure = (code: RequestFault['code'], message: string, details?: object): Outcome => ({ ok: false, error: { code, message, ...(details === undefined ? {} : { details }) } })
  if (error instanceof RequestFault) return failure(error.code, error.message, error.details)
  if (error instanceof EncodingError) return failure('OUTPUT_INVALID', error.message)
  const refusal = thrownAs(error, AddressRefusedError)
  if (refusal !== undefined) return failure('NOT_ALLOWED', refusal.message, { hint: 'Where this API is meant to be inside, HTTP_PRIVATE_HOSTS of the workers must name its host.' })
  const code = errorCode(error)
  if (code === undefined) throw error
  return failure('TOOL_FAILED', `the request failed: ${code}`)
}
