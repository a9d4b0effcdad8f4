import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { egressRuleFor } from '@toolyard/runtime/outgoing'
import type { Audit } from '../audit/audit.ts'
import type { HeaderSecret } from '../run/header-secret.ts'
import { targetText, type Target } from './target.ts'

export interface EgressCall {
  tool: string
  job: string
  log: (line: string) => void
  audit: Audit
  /** Secrets that its processes have placeholders for. */
  secrets: readonly HeaderSecret[]
  /** Hides what its processes have been given. */
  hide?: ((text: string) => string) | undefined
  /** Its program goes on when it is over, as an MCP server does: later calls use the connections that it keeps. */
  isKept?: boolean
}

/** A connection: whose it may be, and the program's end of it. */
interface OpenConnection { owners: readonly EgressCall[], client: Socket }

/** Who is in a network now, and what their connections came to. */
export interface CallTable {
  /** Adds a call, which its processes name by the token; `leave` gives what it was denied, and what wasn't reached. */
  enter (call: EgressCall): { token: string, leave: () => string[] }
  /** Whose token it is. Where it is nobody's, the one call that runs, if there is only one. */
  find (token: string | undefined): EgressCall | undefined
  /** The secrets of running calls that requests to a host carry. */
  secretsFor (target: Target): HeaderSecret[]
  denied (target: Target, by: EgressCall | undefined, line: string): void
  /** Tells of a host that the list has, and that isn't found or doesn't answer. */
  unreached (by: EgressCall | undefined, line: string): void
  /** `client` is the program's end of a connection, `socket` that of the host. */
  opened (target: Target, by: EgressCall | undefined, client: Socket, socket: Socket): void
  running (): number
}

/** A target as the audit has it. */
interface Shown { text: string, host: string, port: number }

export type EgressDecision = 'allowed' | 'denied'

/** Denials of one call that are told, and connections of it that the audit has: a program may make thousands a second. */
const most = { told: 20, audited: 1_000 }

/** How long what a call has sent may still be on its way to a host when the call is over, in milliseconds. */
const lingerMs = 15_000

/**
 * Keeps the calls of one network. `onConnection` hears of each connection. One is closed when no call of it has run, and no program
 * has been there, for `linger` milliseconds: a host may never end it. A program that is there may keep it for the next call.
 */
export function createCallTable (onConnection: (decision: EgressDecision) => void, linger = lingerMs): CallTable {
  const calls = new Map<string, EgressCall>()
  const open = new Map<Socket, OpenConnection>()
  const lines = new Map<EgressCall, Set<string>>()
  const audited = new Map<EgressCall, number>()

  /** A connection that names no call may be anyone's of those that run: they have the same tenant and the same list. */
  const callsOf = (by: EgressCall | undefined): EgressCall[] => by === undefined ? [...calls.values()] : [by]

  /** A connection that names no call may have the secrets of any. The call of one may have ended. */
  const hidden = (text: string, by: EgressCall | undefined): string => (
    [...by === undefined ? [] : [by], ...calls.values()].reduce((rest, { hide }) => hide?.(rest) ?? rest, text)
  )

  function tell (by: EgressCall | undefined, said: string): void {
    const line = hidden(said, by)
    for (const call of callsOf(by)) {
      const told = lines.get(call)
      if (told === undefined || told.has(line) || told.size >= most.told) continue
      told.add(line)
      call.log(line)
    }
  }

  function shownOf (target: Target, by: EgressCall | undefined): Shown {
    return { text: hidden(targetText(target), by), host: hidden(target.host, by), port: target.port }
  }

  function record (
    { text, host, port }: Shown, by: EgressCall | undefined, decision: EgressDecision, seen: { ms: number, sent: number, received: number }
  ): void {
    onConnection(decision)
    const [call] = callsOf(by)
    const count = call === undefined ? 0 : audited.get(call) ?? 0
    if (call === undefined || count >= most.audited) return
    if (lines.has(call)) audited.set(call, count + 1)
    call.audit.record({
      at: new Date(),
      tool: call.tool,
      job: call.job,
      argv: ['egress', text],
      cwd: '',
      exit: decision === 'allowed' ? 0 : -1,
      ms: Math.round(seen.ms),
      stdoutBytes: seen.received,
      stderrBytes: 0,
      truncated: false,
      envKeys: [],
      egress: { host, port, decision, sentBytes: seen.sent, receivedBytes: seen.received }
    })
  }

  /** Whether the program has ended is not seen behind what its host doesn't take. */
  function closeUnused (socket: Socket, { owners, client }: OpenConnection): void {
    if (owners.some(call => lines.has(call))) return
    const isStuck = socket.writableLength > 0 && !owners.some(({ isKept }) => isKept)
    if (client.readableEnded || client.destroyed || isStuck) socket.destroy()
  }

  function closeOf (ended: EgressCall): void {
    for (const [socket, connection] of open) if (connection.owners.includes(ended)) closeUnused(socket, connection)
  }

  return {
    enter (call) {
      const token = randomBytes(16).toString('hex')
      calls.set(token, call)
      lines.set(call, new Set())
      return {
        token,
        leave () {
          const told = [...lines.get(call) ?? []]
          calls.delete(token)
          lines.delete(call)
          audited.delete(call)
          if (open.size > 0) setTimeout(() => { closeOf(call) }, linger).unref()
          return told
        }
      }
    },
    find (token) {
      const named = token === undefined ? undefined : calls.get(token)
      const [only, second] = calls.values()
      return named ?? (second === undefined ? only : undefined)
    },
    secretsFor ({ host, port }) {
      const all = [...calls.values()].flatMap(({ secrets }) => secrets)
      return all.filter(({ rules }) => egressRuleFor(rules, host, port) !== undefined)
    },
    unreached: tell,
    denied (target, by, said) {
      tell(by, said)
      record(shownOf(target, by), by, 'denied', { ms: 0, sent: 0, received: 0 })
    },
    opened (target, by, client, socket) {
      const begun = performance.now()
      // Now: when it is closed, the calls that it may be of, and whose secrets may be in it, may have ended.
      const [shown, owners] = [shownOf(target, by), callsOf(by)]
      open.set(socket, { owners, client })
      const onEnd = (): void => { setTimeout(() => { closeUnused(socket, { owners, client }) }, linger).unref() }
      client.once('end', onEnd)
      socket.once('close', () => {
        client.off('end', onEnd)
        open.delete(socket)
        record(shown, owners[0], 'allowed', { ms: performance.now() - begun, sent: socket.bytesWritten, received: socket.bytesRead })
      })
    },
    running: () => calls.size
  }
}
