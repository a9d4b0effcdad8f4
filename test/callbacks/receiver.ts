import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { text } from 'node:stream/consumers'
import type { CallbackBody } from '@toolyard/contract'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: CallbackBody
  at: number
}

/** Who is called back. */
export interface Receiver {
  url: string
  received: Received[]
  at: (path: string, count?: number) => Promise<Received[]>
}

/** By path: statuses in turn, the last of them for ever; 0 is no answer at all. */
export type Answers = Record<string, number[]>

/** For an https server, as PEM. */
interface Identity {
  cert: string
  key: string
}

/**
 * Starts a receiver on loopback. A path that isn't in `answers` accepts; a redirect
 * leads to `/elsewhere`. With `identity` it speaks https.
 */
export async function startReceiver (t: Cleanup, answers: Answers = {}, identity?: Identity): Promise<Receiver> {
  const received: Received[] = []
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    void text(request).then(body => {
      const path = request.url ?? ''
      const earlier = received.filter(each => each.path === path).length
      received.push({ path, headers: request.headers, text: body, body: JSON.parse(body || '{}') as CallbackBody, at: performance.now() })
      const statuses = answers[path.split('?', 1)[0] ?? ''] ?? [204]
      const status = statuses[Math.min(earlier, statuses.length - 1)] ?? 204
      if (status !== 0) response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
    })
  }
  const server = identity === undefined ? createServer(receive) : createSecureServer(identity, receive)
  const port = await listening(t, server)
  const of = (path: string): Received[] => received.filter(each => each.path === path)
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    received,
    at: async (path, count = 1) => await waitFor(`${count} callbacks at ${path}`, () => of(path).length >= count && of(path), 60_000)
  }
}

/** The check that docs/callbacks.md gives to receivers. */
type CheckCallback = (callback: { headers: IncomingHttpHeaders, body: string }, secret: string, now?: number) => string | undefined

/** Loads that check from the text of the page. */
export async function documentedCheck (): Promise<CheckCallback> {
  const page = await readFile('docs/callbacks.md', 'utf8')
  const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const loaded = await import(`data:text/javascript,${encodeURIComponent(code)}`) as { checkCallback: CheckCallback }
  return loaded.checkCallback
}

export const secret = 'a-secret-of-the-tests'

/** Settings of a service that may call receivers on loopback. */
export const callbackEnv = {
  CALLBACK_SECRET: secret,
  CALLBACK_ALLOWLIST: '127.0.0.1,hooks.test',
  CALLBACK_ALLOW_HTTP: '1',
  CALLBACK_ALLOW_PRIVATE: '1',
  CALLBACK_ATTEMPTS: '3'
}
