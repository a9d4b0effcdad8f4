import { Toolyard, type HttpErrorCode } from '@toolyard/client'
import { consoleHeader, consoleHeaderFor, readJson, writeThrough } from '@toolyard/contract/terms'

/** Why the service did not do what was asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: HttpErrorCode | 'UNREACHABLE' | 'BAD_ANSWER'
  readonly details: unknown

  constructor (status: number, code: ApiError['code'], message: string, details?: unknown) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export interface ApiRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Sent as JSON; a file as it is. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

/** The service whose page this is, asked in the name of who has logged in. */
export class Api {
  /** The client, for what it knows. */
  readonly toolyard: Toolyard
  /** Path in front of all of the service's own. */
  readonly base: string
  /** The name of the key for which the page is, once that is known. */
  shownKey: string | undefined
  readonly #onLoggedOut: () => void

  constructor (base: string, onLoggedOut: () => void) {
    this.base = base
    this.#onLoggedOut = onLoggedOut
    this.toolyard = new Toolyard({
      url: base,
      retryMs: 5_000,
      // Numbers are shown as they were written.
      json: { parse: readJson, stringify: writeThrough },
      fetch: async (input, init) => await this.#send(input instanceof Request ? input.url : input.toString(), init)
    })
  }

  /** The answer's body. @throws ApiError */
  async ask<T> (path: string, request: ApiRequest = {}): Promise<T> {
    const response = await this.open(path, request)
    try {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The service is of the same release as its page.
      return readJson(await response.text()) as T
    } catch {
      throw new ApiError(response.status, 'BAD_ANSWER', `What answered is not Toolyard (status ${response.status})`)
    }
  }

  /** The answer as it comes, for files. @throws ApiError */
  async open (path: string, { method = 'GET', body, headers = {}, signal }: ApiRequest = {}): Promise<Response> {
    const isFile = body instanceof Blob
    const sent = body === undefined ? {} : { body: isFile ? body : writeThrough(body) }
    const type: Record<string, string> = body === undefined || isFile ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { ...type, ...headers }, ...sent, ...(signal === undefined ? {} : { signal }) }
    const response = await this.#send(this.base + path, init).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw new ApiError(0, 'UNREACHABLE', `The service can't be reached: ${error instanceof Error ? error.message : String(error)}`)
    })
    if (!response.ok) throw await failureOf(response)
    return response
  }

  async #send (url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set(consoleHeader, consoleHeaderFor(this.shownKey))
    const response = await fetch(url, { ...init, headers, credentials: 'same-origin' })
    if (response.status === 401 && !url.endsWith('/v1/auth/login')) this.#onLoggedOut()
    return response
  }
}

/** As much of an error as is looked at. */
interface Failed {
  code?: HttpErrorCode
  message?: string
  details?: unknown
}

async function failureOf (response: Response): Promise<ApiError> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Every part of it is looked at.
  const body = await response.json().catch(() => undefined) as { error?: Failed } | undefined
  const { code = 'BAD_ANSWER', details, message = `The service answered with the status ${response.status}` } = body?.error ?? {}
  return new ApiError(response.status, code, message, details)
}
