import { readFile } from 'node:fs/promises'
import { isRecord } from '@toolyard/contract/terms'

/*
 * Secrets of the operator in HashiCorp Vault, or OpenBao: in the engine KV of version 2, each under its name, the value in the
 * field `value`. They are asked for at each call, so that one that is gone isn't used any more. The worker keeps its token alive.
 */

export interface VaultOptions {
  /** Where the secrets are: `https://host:8200/v1/MOUNT/data/PATH`. */
  url: string
  /** Has the token. It is read for each request: an agent may change it. */
  tokenFile: string
}

export interface Vault {
  /** The value; undefined where there is none. @throws Error that says why it can't be read: no value, and not the token. */
  read (name: string): Promise<string | undefined>
}

const requestMs = 5_000
/** As much as the API stores. */
const maxBytes = 65_536
/** JSON has up to six bytes for one, and Vault says a little about each secret. */
const maxAnswerBytes = 6 * maxBytes + 65_536
const renewMs = { least: 10_000, most: 86_400_000, afterFault: 60_000 }

/** @param onFault hears why the token could not be renewed */
export function openVault ({ url, tokenFile }: VaultOptions, onFault: (reason: string) => void): Vault {
  async function ask (method: 'GET' | 'POST', address: string): Promise<{ status: number, body: unknown }> {
    // First of all, so that the renewal at the start loads it: Node keeps an import that failed.
    const { askJson } = await import('@toolyard/runtime/connections')
    const token = (await readFile(tokenFile, 'utf8')).trim()
    const headers = { 'x-vault-token': token, 'x-vault-request': 'true' }
    return await askJson(address, { method, headers, ms: requestMs, bytes: maxAnswerBytes })
  }

  async function renew (): Promise<void> {
    let nextMs = renewMs.afterFault
    try {
      const { status, body } = await ask('POST', new URL('/v1/auth/token/renew-self', url).href)
      if (status !== 200) throw new Error(faultOf(status, body))
      const auth = isRecord(body) ? body['auth'] : undefined
      const leaseSec = isRecord(auth) ? Number(auth['lease_duration']) : 0
      // A token without an end needs nothing more.
      if (!(leaseSec > 0)) return
      nextMs = Math.min(renewMs.most, Math.max(renewMs.least, leaseSec * 500))
    } catch (error) {
      onFault(`the token can't be renewed: ${reasonOf(error)}`)
    }
    setTimeout(() => { void renew() }, nextMs).unref()
  }

  void renew()
  return {
    async read (name) {
      try {
        const { status, body } = await ask('GET', `${url.replace(/\/$/, '')}/${encodeURIComponent(name)}`)
        // Where nothing is mounted Vault answers 404 as well, and says so; a version that was deleted has its metadata.
        if (status === 404 && errorsOf(body).length === 0) return undefined
        if (status !== 200) throw new Error(faultOf(status, body))
        return valueOf(body)
      } catch (error) {
        throw new Error(reasonOf(error))
      }
    }
  }
}

/** @throws Error where there is no text in the field `value`. */
function valueOf (body: unknown): string | undefined {
  const outer = isRecord(body) ? body['data'] : undefined
  const data = isRecord(outer) ? outer['data'] : undefined
  if (!isRecord(data)) throw new Error('the answer is not that of KV version 2: SECRETS_VAULT_URL has /data/ behind the mount')
  const { value } = data
  if (typeof value !== 'string') throw new Error('it has no field "value" that is a text')
  if (Buffer.byteLength(value) > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
  return value === '' ? undefined : value
}

function errorsOf (body: unknown): unknown[] {
  const errors = isRecord(body) ? body['errors'] : undefined
  return Array.isArray(errors) ? errors : []
}

function faultOf (status: number, body: unknown): string {
  return `Vault answered ${status}${errorsOf(body).map(text => `, ${JSON.stringify(String(text).slice(0, 200))}`).join('').slice(0, 500)}`
}

function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return 'it failed'
  if (error.name === 'TimeoutError') return `Vault did not answer in ${requestMs / 1_000} s`
  return 'code' in error ? `Vault can't be reached: ${String(error.code)}` : error.message
}
