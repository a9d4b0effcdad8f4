import { asError, isRecord, readJson, orElse, firstChars } from '@toolyard/contract/terms'
import { commandError, type Target } from './target.ts'

const shownChars = 200
const briefMs = 30_000

/** A request whose body is JSON already. */
interface ServiceRequest {
  method: string
  path: string
  body?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

/**
 * Asks the service once, for what the client has no method for. The key goes to no other address: a redirect isn't followed.
 *
 * @returns the object that it answered with.
 * @throws CommandError
 */
export async function askService (
  target: Target, { method, path, body, headers, signal }: ServiceRequest
): Promise<Record<string, unknown>> {
  const { url, apiKey } = target
  const broken = (error: unknown): never => { throw unreachable(target, error) }
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...apiKey !== undefined && { 'x-api-key': apiKey }, ...body !== undefined && { 'content-type': 'application/json' }, ...headers },
    ...body !== undefined && { body },
    ...signal !== undefined && { signal }
  }).catch(broken)
  // What breaks off is no answer of another service.
  const text = await response.text().catch(broken)
  const answer = parsed(text)
  if (response.ok && isRecord(answer)) return answer
  const { code, message, details } = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {}
  if (response.ok || typeof code !== 'string') throw strangeAnswer(target, text, response.status)
  throw commandError({ status: response.status, code, message: typeof message === 'string' ? message : code, details }, target)
}

/** The same for what takes no time to answer. */
export async function askBriefly (target: Target, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(briefMs)
  return await askService(target, { method, path, signal, ...body !== undefined && { body: JSON.stringify(body) } })
}

/** The error for a service that fetch doesn't reach. */
export function unreachable (target: Target, error: unknown): Error {
  return commandError({ code: 'UNREACHABLE', message: `Toolyard can't be reached at ${target.url}: ${thrownMessage(error)}` }, target)
}

/** The error for an answer that no service of Toolyard gives. */
export function strangeAnswer (target: Target, answer: unknown, status = 200): Error {
  const shown = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return commandError({ code: 'BAD_ANSWER', message: `What answered with status ${status} isn't Toolyard: ${firstChars(shown, shownChars)}` }, target)
}

function parsed (text: string): unknown {
  return orElse(() => readJson(text), undefined)
}

/** An error of fetch says why in its cause. */
function thrownMessage (error: unknown): string {
  const { cause, message } = asError(error)
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
