import { createHash } from 'node:crypto'
import type { StoredKey } from './stored-keys.ts'

/**
 * Names what a key may do, for an approval of one of its calls: another text when any of it changes. A key in Redis can be asked
 * for by every process, one of the settings by API processes alone.
 */
export function keyPart (source: 'redis' | 'settings', { role, tenant, queueAllowlist, permissions, namespaces }: Omit<StoredKey, 'name' | 'sse'>): string {
  const may = [role, tenant ?? null, queueAllowlist ?? null, permissions ?? null, ...namespaces === undefined ? [] : [namespaces]]
  return `${source}:${createHash('sha256').update(JSON.stringify(may)).digest('base64url')}`
}
