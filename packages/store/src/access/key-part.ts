import { createHash } from 'node:crypto'
import type { StoredKey } from './stored-keys.ts'

/**
 * Tells keys in Redis apart that have the same name one after the other. It tells neither the key nor its digest. Keys of the
 * settings have no such id: their values may be guessable.
 */
export function keyId (digest: string): string {
  return createHash('sha256').update(`key ${digest}`).digest('base64url').slice(0, 22)
}

/**
 * Names a key and what it may do, for an approval of one of its calls: another text when any of it changes. A key in Redis can
 * be asked for by every process, one of the settings by API processes alone.
 *
 * @param id see `keyId`; undefined for a key of the settings
 */
export function keyPart (
  id: string | undefined, { role, tenant, queueAllowlist, permissions, namespaces, hosts }: Omit<StoredKey, 'name' | 'sse'>
): string {
  const more = [...namespaces === undefined ? [] : [namespaces], ...hosts === undefined ? [] : [{ hosts }]]
  const bounds = [tenant ?? null, queueAllowlist ?? null, permissions ?? null, ...more]
  return `${id === undefined ? 'settings' : 'redis'}:${createHash('sha256').update(JSON.stringify([id ?? null, role, ...bounds])).digest('base64url')}`
}
