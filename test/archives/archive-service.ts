import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Client } from '../support/client.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, reads: { role: 'read', tenant: 'acme' }, other: { tenant: 'other' } })
export const archiveKeys = keys
export type Options = RequestInit & { key?: string, duplex?: 'half' }
export interface Refusal { status: number, code: string, message: string }

interface ArchiveService {
  client: Client
  url: string
  env: NodeJS.ProcessEnv
  sessionsDir: string
  /** A directory for what is no session's. */
  aside: string
  at: (...names: string[]) => string
  ask: (method: string, path: string, options?: Options) => Promise<Response>
  make: (body?: object) => Promise<string>
  putArchive: (path: string, body: Uint8Array, key?: string) => Promise<Response>
  getArchive: (path: string) => Promise<Buffer>
}

/** A service for the tests of archives, with what they ask of it. */
export async function archiveService (): Promise<ArchiveService> {
  const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
  const aside = mkdtempSync(join(tmpdir(), 'toolyard-archives-'))
  for (const dir of [sessionsDir, aside]) t.teardown(() => { rmSync(dir, { recursive: true }) })
  const service = await injectService(t, { workers: 0, env: { SESSIONS_DIR: sessionsDir, API_KEYS_JSON } })
  const { client, app } = service
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const at = (...names: string[]): string => join(sessionsDir, ...names)
  const ask = async (method: string, path: string, { key = archiveKeys.acme, headers, ...rest }: Options = {}): Promise<Response> => {
    return await fetch(`${url}/v1/${path}`, { method, headers: { 'x-api-key': key, ...headers as Record<string, string> }, ...rest })
  }
  return {
    client,
    url,
    at,
    ask,
    sessionsDir,
    aside,
    env: service.env,
    make: async (body?: object): Promise<string> => await client.session(archiveKeys.acme, body),
    putArchive: async (path: string, body: Uint8Array, key = archiveKeys.acme): Promise<Response> => {
      return await ask('PUT', `${path}?archive=tar`, { body: new Uint8Array(body), key })
    },
    getArchive: async (path: string): Promise<Buffer> => Buffer.from(await (await ask('GET', `${path}?archive=tar`)).arrayBuffer())
  }
}

export async function refused (answer: Response): Promise<Refusal> {
  return { status: answer.status, ...(await answer.json() as { error: { code: string, message: string } }).error }
}

/** Paths with their content, directories with a slash. */
export function treeOf (dir: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const name of existsSync(dir) ? readdirSync(dir).sort() : []) {
    const path = join(dir, name)
    if (lstatSync(path).isDirectory()) Object.assign(tree, { [`${below}${name}/`]: '' }, treeOf(path, `${below}${name}/`))
    else tree[`${below}${name}`] = readFileSync(path, 'base64')
  }
  return tree
}
