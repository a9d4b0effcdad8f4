import { setImmediate } from 'node:timers/promises'
import type { Tool } from '@toolyard/manifests'

/**
 * Loads what calls of tools of MCP servers run with, if there are any: a call that loads it would hold up all others for
 * up to 0.2 s. Each part has a turn of the event loop of its own.
 */
export async function loadCodeOf (tools: readonly Tool[]): Promise<void> {
  if (!tools.some(({ run }) => run.kind === 'mcp')) return
  const { preloadSchemas } = await import('@modelcontextprotocol/client')
  await setImmediate()
  // What a client would make at its first message.
  preloadSchemas()
  await setImmediate()
  await import('./run-mcp.ts')
  await import('./servers.ts')
}
