import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Tool } from '@toolyard/manifests'
import type { BuiltinOptions } from './builtin/builtins.ts'

/**
 * Loads what calls of these tools run with, beside what each worker has. Node keeps a module that could not be loaded as it
 * is, for good: a worker that is out of descriptors at the first call of a tool could never run it. Each part has a turn of the event
 * loop of its own, since a call that loads it would hold up all others for up to 0.2 s.
 */
export async function loadCodeOf (tools: readonly Tool[], { fetch, webSearch }: Pick<BuiltinOptions, 'fetch' | 'webSearch'>): Promise<void> {
  // Node 20 follows no link of a package while the last file that it looked at was a FIFO or a socket, as those of calls are:
  // a checkout would load such packages once more, and know none of their errors.
  statSync('/')
  if (fetch !== undefined) await import('./builtin/web/fetch-page.ts')
  if (webSearch !== undefined) await import('./builtin/web/search-web.ts')
  if (tools.some(({ run }) => run.kind === 'http')) await import('./http/run-http.ts')
  if (tools.some(({ secrets = {} }) => Object.values(secrets).some(use => use.as === 'header'))) {
    await setImmediate()
    await import('./egress/authority.ts')
  }
  if (!tools.some(({ run }) => run.kind === 'mcp')) return
  await setImmediate()
  const { preloadSchemas } = await import('@modelcontextprotocol/client')
  await setImmediate()
  // A client would make them at its first message.
  preloadSchemas()
  await setImmediate()
  await import('./mcp/run-mcp.ts')
  await import('./mcp/servers.ts')
}
