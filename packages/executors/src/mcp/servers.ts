import { setTimeout as sleep } from 'node:timers/promises'
import { asError, firstChars, limits, thrownAs, type CallError } from '@toolyard/contract/terms'
import type { McpServer, Tool } from '@toolyard/manifests'
import { LoopTurns, onAbort, sharedAbort } from '@toolyard/runtime'
import type { Failure } from '../run/outcome.ts'
import { SharedForms } from '../result/shared-forms.ts'
import { createThreads } from '../run/create-threads.ts'
import type { WorkerHost } from '../run/tool-call.ts'
import { openConnection, type Connection } from './connection.ts'
import { ServerFault } from './wire/message-reader.ts'
import { shortageOfBox, tellingLine, type ServerPlace } from './wire/server-process.ts'
import { createReports } from './server-reports.ts'
import { entryOf, slotId, unavailable } from './server-tool.ts'
import { hidden, secretsOf, storedStamp } from './wire/setting-text.ts'

/*
 * The servers of a worker: one connection for each tenant and session that calls it, opened with the first call and kept, so that no server
 * remembers for one what another said. One is closed, opening, open, or resting after a failure; each failure in a row doubles the rest.
 */

/** A connection that is in use until it is released. */
export interface Lease {
  ok: true
  connection: Connection
  release: () => void
}

export interface McpServers {
  /** The connection of a server, or why it has none. */
  use (server: McpServer, place: ServerPlace): Promise<Lease | Failure>
  /** Ends a server that doesn't answer any more, after a call of it was given up. */
  suspect (server: McpServer, connection: Connection): Promise<void>
  /** The next call gets another connection. Calls under way on this one go on, and it is ended behind the last of them. */
  renew (connection: Connection): void
  /** Says which tools there are from now on: connections that none of them needs end, those in use behind the last call. */
  keep (tools: readonly Tool[]): void
  /** Ends the connections of a session, those in use behind the last call. */
  endSession (id: string): void
  /** Writes to the log what was not written before. */
  report (server: McpServer, message: string): void
  close (): Promise<void>
}

/** How long the opening may take: a server may have to be fetched first. */
const openMs = 60_000
const idleMs = { operator: 600_000, scoped: 60_000 }
/** Connections of tenants and sessions: with more, an unused one of the owner with the most is ended, down to its fair part. */
const mostScoped = 64
const restMs = { first: 500, most: 30_000, /** A call waits for the end of a rest that is shorter. */ waits: 2_000 }
/** A connection that lasted longer than this has worked, so failures before it no longer count. */
const soundMs = 10_000
const answerMs = 3_000
/** Large messages that are read at once: each one takes a processor, and up to 256 MiB. */
const mostLarge = 2
/** Lines of stderr that may say why a server doesn't open. */
const firstLines = 200

interface Slot {
  id: string
  /** Whose it is, of a tenant's or a session's. */
  owner: string | undefined
  sessionId: string | undefined
  entry: string
  stamp: string
  opening?: Promise<Connection> | undefined
  connection?: Connection | undefined
  failures: number
  restUntil: number
  /** Why it failed, and the error that calls got, if it wasn't that the server can't be used. */
  last: { why: string, callError: CallError | undefined }
  users: number
  idle?: NodeJS.Timeout | undefined
}

/** Makes the servers of a worker; nothing is opened before the first use. */
export function createServers (host: WorkerHost): McpServers {
  const threads = createThreads({ most: mostLarge })
  const worker: WorkerHost = { ...host, threads }
  const turns = new LoopTurns()
  const shared = new SharedForms<readonly string[]>()
  const slots = new Map<string, Slot>()
  const report = createReports(host.logger)
  const closing = new Set<Promise<void>>()
  const life = sharedAbort()
  /** The entries that manifests have; undefined until that is said. */
  let kept: ReadonlySet<string> | undefined

  function end (connection: Connection): void {
    const ending = connection.close().finally(() => { closing.delete(ending) })
    closing.add(ending)
  }

  function slotOf (server: McpServer, { scope = '', owner = '', sessionId, stored }: ServerPlace): Slot {
    const id = slotId(server, scope)
    const entry = entryOf(server)
    const stamp = entry + storedStamp(stored)
    const known = slots.get(id)
    if (known?.stamp === stamp) return known
    // Calls of the old one go on.
    if (known !== undefined && known.users === 0) retire(known)
    const rest = { failures: 0, restUntil: 0, last: { why: '', callError: undefined }, users: 0 }
    const slot: Slot = { id, owner: scope === '' ? undefined : owner, sessionId, entry, stamp, ...rest }
    slots.set(id, slot)
    if (slot.owner !== undefined) makeRoom(slot)
    return slot
  }

  /** The map is in the order in which the slots were made. */
  function makeRoom (made: Slot): void {
    const scoped = [...slots.values()].filter(({ owner }) => owner !== undefined)
    if (scoped.length <= mostScoped) return
    const counts = new Map<unknown, number>()
    for (const { owner } of scoped) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    const over = ({ owner }: Slot): number => (counts.get(owner) ?? 0) - Math.floor(mostScoped / counts.size)
    const unused = scoped.filter(slot => slot.users === 0 && slot !== made && over(slot) > 0)
    const [first] = unused.sort((a, b) => over(b) - over(a))
    if (first === undefined) return
    retire(first)
    makeRoom(made)
  }

  function retire (slot: Slot): void {
    clearTimeout(slot.idle)
    if (slot.owner !== undefined && slots.get(slot.id) === slot) slots.delete(slot.id)
    if (slot.connection !== undefined) end(slot.connection)
    slot.connection = undefined
  }

  /** Gives what ends this use. */
  function hold (slot: Slot): () => void {
    clearTimeout(slot.idle)
    slot.users += 1
    slot.connection?.rest(false)
    let released = false
    return () => {
      if (released) return
      released = true
      slot.users -= 1
      if (slot.users > 0) return
      slot.connection?.rest(true)
      if (![...slots.values()].includes(slot) || kept?.has(slot.entry) === false) retire(slot)
      else slot.idle = setTimeout(() => { retire(slot) }, slot.owner !== undefined ? idleMs.scoped : idleMs.operator).unref()
    }
  }

  function failed (slot: Slot, server: McpServer, why: string, callError?: CallError): void {
    slot.failures += 1
    slot.restUntil = performance.now() + Math.min(restMs.most, restMs.first * 2 ** (slot.failures - 1))
    slot.last = { why, callError }
    report(server, why)
  }

  async function open (slot: Slot, server: McpServer, place: ServerPlace): Promise<Connection> {
    const { forms: secrets, release } = await secretsOf(server, { env: worker.env, stored: place.stored }, shared)
    const limit = new AbortController()
    const timer = setTimeout(() => { limit.abort(new ServerFault(`it was not ready after ${openMs / 1_000} s`)) }, openMs)
    const off = onAbort(life.signal, () => { limit.abort(life.signal.reason) })
    const lines: string[] = []
    try {
      const onLine = (line: string): void => {
        if (lines.length < firstLines) lines.push(line)
        report(server, `stderr: ${hidden(line, secrets)}`)
      }
      const onFault = (message: string): void => { report(server, hidden(message, secrets)) }
      const connection = await openConnection(server, { worker, turns, place, secrets, onLine, onFault }, limit.signal)
      const opened = performance.now()
      slot.connection = connection
      void connection.ended.then(why => {
        release()
        if (slot.connection !== connection) return
        slot.connection = undefined
        if (performance.now() - opened > soundMs) slot.failures = 0
        failed(slot, server, `it ended: ${why}`)
        end(connection)
      })
      return connection
    } catch (error) {
      release()
      const said = asError(limit.signal.aborted ? limit.signal.reason : error).message
      // No call has reached it yet, so that what it wrote tells nothing of another caller.
      const line = tellingLine(lines)
      const why = firstChars(hidden(line === undefined ? said : `${said}; its stderr: ${line}`, secrets), limits.errorMessageChars)
      const callError = thrownAs(error, ServerFault)?.callError ?? shortageOfBox(lines)
      failed(slot, server, why, callError)
      throw new ServerFault(why, callError)
    } finally {
      clearTimeout(timer)
      off()
    }
  }

  async function connected (slot: Slot, server: McpServer, place: ServerPlace): Promise<Connection> {
    if (slot.connection !== undefined) return slot.connection
    if (slot.opening === undefined) {
      const rest = slot.restUntil - performance.now()
      if (rest > restMs.waits) throw new ServerFault(`${slot.last.why} (it is tried again in ${Math.ceil(rest / 1_000)} s)`, slot.last.callError)
      const rested = rest > 0 ? sleep(rest) : Promise.resolve()
      slot.opening = rested.then(async () => await open(slot, server, place)).finally(() => { slot.opening = undefined })
    }
    return await slot.opening
  }

  return {
    async use (server, place) {
      if (life.signal.aborted) return { ok: false, error: unavailable(server, 'the worker is stopping') }
      const slot = slotOf(server, place)
      const release = hold(slot)
      try {
        return { ok: true, connection: await connected(slot, server, place), release }
      } catch (error) {
        release()
        const callError = thrownAs(error, ServerFault)?.callError
        return { ok: false, error: callError?.code === 'SANDBOX_FAILED' || callError?.code === 'INTERNAL' ? callError : unavailable(server, asError(error).message) }
      }
    },
    async suspect (server, connection) {
      if (connection.reason !== undefined) return
      // One that rests may not come to answer where others want the processor.
      const releases = [...slots.values()].filter(slot => slot.connection === connection).map(hold)
      const answers = await connection.answers(answerMs)
      for (const release of releases) release()
      if (answers) return
      report(server, 'it does not answer any more, and is ended')
      await connection.close()
    },
    renew (connection) {
      for (const [id, slot] of slots) if (slot.connection === connection) slots.delete(id)
    },
    keep (tools) {
      const servers = new Set(tools.flatMap(({ run }) => run.kind === 'mcp' ? [run.server] : []))
      kept = new Set([...servers].map(entryOf))
      for (const slot of slots.values()) if (slot.users === 0 && !kept.has(slot.entry)) retire(slot)
    },
    endSession (id) {
      for (const slot of [...slots.values()].filter(({ sessionId }) => sessionId === id)) {
        slots.delete(slot.id)
        if (slot.users === 0) retire(slot)
      }
    },
    report,
    async close () {
      life.abort(new ServerFault('the worker is stopping'))
      await Promise.allSettled([...slots.values()].map(async ({ opening }) => await opening))
      for (const slot of slots.values()) retire(slot)
      await Promise.all(closing)
      await threads.close()
    }
  }
}
