import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { McpSessionChange, McpSessions } from '@toolyard/store'

/** For one session: URIs, bytes of one, and bytes of all. */
export const mostWatched = { uris: 100, uriBytes: 2_048, bytes: 32_768 }

/**
 * Changes what is kept of a session of a client of 2025.
 *
 * @throws ProtocolError for a session that has ended meanwhile, or would watch too much.
 */
export async function changeSession (
  sessions: McpSessions, { session, owner }: { session: string, owner: string }, change: McpSessionChange
): Promise<void> {
  const outcome = await sessions.change(session, change, owner)
  if (outcome === 'ended') throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'The session has ended: initialize a new one')
  if (outcome === 'done') return
  const { uris, bytes } = mostWatched
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `A session watches at most ${uris} resources, whose URIs have at most ${bytes} bytes: unsubscribe from some`
  )
}
