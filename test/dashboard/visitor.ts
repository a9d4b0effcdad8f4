import { consoleHeader } from '@toolyard/contract'
import { testKeys } from '../support/service.ts'

export interface Page {
  status: number
  headers: Headers
  text: string
  /** Empty where the answer isn't JSON. */
  body: Record<string, unknown>
}

/** Sends a request to an address as it is: no key, no redirect followed. */
export async function visit (url: string, init: { method?: string, headers?: Record<string, string>, body?: string } = {}): Promise<Page> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) as Record<string, unknown> : {} }
}

/** Logs in to the API at an address, as the console does, and gives the cookie as a browser sends it back. */
export async function logIn (address: string, key: string = testKeys.admin, headers: Record<string, string> = {}): Promise<string> {
  const page = await visit(`${address}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [consoleHeader]: '1', 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ key })
  })
  const cookie = page.headers.get('set-cookie')
  if (page.status !== 200 || cookie === null) throw new Error(`the login answered ${page.status}: ${page.text.slice(0, 200)}`)
  return cookie.split(';', 1)[0] ?? ''
}

/** A visitor who has logged in, and whose page asks `/dashboard/api` for things. */
export interface Visitor {
  cookie: string
  /** `path` is below `/dashboard/api`; without a method it is read. */
  api: (path: string, method?: string) => Promise<Page>
}

export async function openVisit (address: string, key?: string): Promise<Visitor> {
  const cookie = await logIn(address, key)
  return { cookie, api: async (path, method = 'GET') => await visit(`${address}/dashboard/api${path}`, { method, headers: { cookie, 'sec-fetch-site': 'same-origin' } }) }
}
