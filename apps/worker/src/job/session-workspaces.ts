import type { CallError } from '@toolyard/contract/terms'
import type { Tool } from '@toolyard/manifests'
import { interruptionError, type Outcome, type SessionPlace } from '@toolyard/executors'
import { goneError, type Redis, type SessionLeases, type SessionStay } from '@toolyard/store'
import { eitherSignal, type Logger } from '@toolyard/runtime'
import {
  discardSession, FileClock, openSessionDirectory, Backoff, SessionCounts, SessionQuota, Trash, type SessionPlaces, type Survey
} from '@toolyard/workspace'
import { join } from 'node:path'
import { SessionWatches, type SessionWatch } from './session-watches.ts'
import { withFiles, withOutputFile } from './output-file.ts'
import { directoryError, quotaError } from './session-faults.ts'

/** A call's stay in the directory of its session. */
export interface SessionWorkspace {
  kind: 'entered'
  place: SessionPlace
  /** Aborted when the job's own is, or the session is removed. */
  signal: AbortSignal
  /** The outcome with its files: a large output is a file, files are counted, and those that it made or changed are named. */
  settled: (outcome: Outcome, tool: Tool, jobId: string) => Promise<Outcome>
  leave: () => void
}

export interface RefusedSession { kind: 'refused', error: CallError }

export interface WorkspaceWish {
  session: string
  tenant: string | undefined
  writes: boolean
  /** It makes room, and may run in a session that is full. */
  frees: boolean
  signal: AbortSignal
  /** Its timeout, from now on. */
  timeoutMs: number
}

interface SessionWorkspacesOptions {
  leases: SessionLeases
  places: SessionPlaces
  logger: Logger
}

const upkeepMs = 1_000
const trashName = '.trash'
/** Failures in a row from which on somebody is told: other workers remove the same at the same time. */
const toldFailures = 2
/** How long one turn of removing files may take. */
const trashMs = 400
/** How long the files of a call that has used its time up may be counted, in milliseconds. */
const leastCountMs = 1_000

/** A call, where it is, and how long its files may be counted. */
interface SessionCall {
  dir: string
  stay: SessionStay
  signal: AbortSignal
  timeoutMs: number
  endsAt: number
}

interface WritingCall extends SessionCall {
  /** When it began, by the clock of its files. */
  since: bigint
  /** Whole when the call began; undefined where there was none. */
  watch: SessionWatch | undefined
}

export class SessionWorkspaces {
  readonly #options: SessionWorkspacesOptions
  readonly #counts = new SessionCounts()
  readonly #quota = new SessionQuota(this.#counts)
  readonly #watches = new SessionWatches()
  readonly #trash: Trash
  /** Of sessions whose directory can't be put there. */
  readonly #backoff = new Backoff()
  #clock: FileClock | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor (options: SessionWorkspacesOptions) {
    this.#options = options
    this.#trash = new Trash(options.places.dir, ({ path, error, failures }) => { this.#tell(error, path, failures) })
  }

  /** Sessions that were removed and whose files can't be. */
  get stuck (): number {
    return this.#trash.stuck + this.#backoff.size
  }

  /** Removes, from now on, what sessions left; `onRemoved` gets the id of each that is removed. */
  start (subscriber: Redis, onRemoved?: (id: string) => void): void {
    this.#options.leases.start(subscriber, onRemoved)
    this.#schedule()
  }

  stop (): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#watches.end()
    void this.#trash.close()
    this.#clock?.close()
    this.#clock = undefined
    this.#options.leases.stop()
  }

  /** @throws RedisUnavailableError */
  async enter ({ session: id, tenant, writes, frees, signal, timeoutMs }: WorkspaceWish): Promise<SessionWorkspace | RefusedSession> {
    const stay = await this.#options.leases.enter(id, tenant)
    if (stay === undefined) return { kind: 'refused', error: goneError(id) }
    const either = eitherSignal(signal, stay.signal)
    const leave = (): void => {
      either.release()
      stay.leave()
    }
    try {
      const dir = await openSessionDirectory(this.#options.places, stay.session)
      const call = { dir, stay, signal: either.signal, timeoutMs, endsAt: performance.now() + timeoutMs }
      const refused = writes && !frees ? await this.#overQuota(call, true) : undefined
      if (refused !== undefined) {
        leave()
        return { kind: 'refused', error: refused }
      }
      const session = { ...stay.session, dir }
      const writing = writes ? { ...call, since: this.#now(), watch: this.#watches.get(id) } : undefined
      return {
        kind: 'entered',
        place: { id, dir, takeRoom: async bytes => { await this.#quota.take(session, bytes) } },
        signal: either.signal,
        settled: async (ended, tool, jobId) => {
          // The tool has run: its output counts more than its file, and than the list of its files.
          const after = (outcome: Outcome, what: string) => (err: unknown): Outcome => {
            this.#options.logger.warn({ err, session: id }, `sessions: ${what}`)
            return outcome
          }
          const place = { session, signal: either.signal, quota: this.#quota }
          const failed = after(ended, 'a large output could not be written to a file')
          const outcome = await withOutputFile(ended, tool, jobId, place).catch(failed)
          if (writing === undefined) return outcome
          return await this.#settled(outcome, writing).catch(after(outcome, 'the files of a call could not be looked at'))
        },
        leave
      }
    } catch (error) {
      leave()
      return { kind: 'refused', error: directoryError(error) }
    }
  }

  /** The files that a tool wrote stay; the call is told that they were too much. */
  async #settled (outcome: Outcome, writing: WritingCall): Promise<Outcome> {
    if (!outcome.ok) {
      await this.#overQuota(writing, false)
      return outcome
    }
    const { stay, since, watch } = writing
    const isKnown = this.#counts.freshBytes(stay.session, () => true) !== undefined
    if (isKnown && watch !== undefined && await watch.staysQuiet()) return outcome
    const survey = await this.#survey(writing, since)
    if ('code' in survey) return { ok: false, error: survey }
    const { bytes } = survey
    return bytes > stay.session.quotaBytes ? { ok: false, error: quotaError(bytes, stay) } : withFiles(outcome, survey)
  }

  /** Why the call may not go on; undefined when it may. */
  async #overQuota (call: SessionCall, isBefore: boolean): Promise<CallError | undefined> {
    const { session } = call.stay
    // A session that was within the quota after a call is so before the next one.
    if (this.#counts.freshBytes(session, () => isBefore) !== undefined) return undefined
    const found = await this.#survey(call, undefined)
    if ('code' in found) return found
    return found.bytes <= session.quotaBytes ? undefined : quotaError(found.bytes, call.stay)
  }

  /** Counts the files, no longer than the call may take. Why it ended early; then nothing is known of them. */
  async #survey (call: SessionCall, since: bigint | undefined): Promise<Survey | CallError> {
    const timeout = new AbortController()
    const timer = setTimeout(() => { timeout.abort() }, Math.max(leastCountMs, call.endsAt - performance.now()))
    const { signal, release } = eitherSignal(call.signal, timeout.signal)
    try {
      return await this.#count(call, since, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      this.#counts.forget(call.stay.session.id)
      return interruptionError(call.signal.aborted ? { kind: 'abort', reason: call.signal.reason } : { kind: 'timeout', afterMs: call.timeoutMs })
    } finally {
      clearTimeout(timer)
      release()
    }
  }

  async #count ({ dir, stay }: SessionCall, since: bigint | undefined, signal: AbortSignal): Promise<Survey> {
    const { id, quotaBytes } = stay.session
    // To watch a session that has few entries would take longer than to look at them.
    const watch = this.#counts.isLarge(id) ? this.#watches.grow() : undefined
    const walk = this.#counts.survey({ ...stay.session, dir }, {
      since, signal, ...(watch === undefined ? {} : { onDirectory: directory => { watch.add(directory) } })
    })
    const survey = await walk.catch((error: unknown) => {
      watch?.end()
      throw error
    })
    const { bytes, filledBytes } = survey
    if (watch !== undefined && filledBytes <= quotaBytes) this.#watches.keep(id, watch)
    else watch?.end()
    if (Number.isFinite(bytes)) stay.noteUsage(bytes)
    return survey
  }

  #now (): bigint {
    this.#clock ??= new FileClock(this.#options.places.dir)
    return this.#clock.now()
  }

  #schedule (): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      void this.#upkeep().then(() => { this.#schedule() })
    }, upkeepMs).unref()
  }

  /** One session whose files can't be removed holds up no other. Redis that is away is no failure of the directory. */
  async #upkeep (): Promise<void> {
    const { leases, places } = this.#options
    const gone: string[] = []
    for (const id of await leases.removable().catch(() => [])) {
      if (this.#backoff.isWaiting(id)) continue
      try {
        await discardSession(places, id)
        this.#counts.forget(id)
        this.#watches.forget(id)
        this.#backoff.forget(id)
        gone.push(id)
      } catch (error) {
        this.#tell(error, join(places.dir, id), this.#backoff.failed(id))
      }
    }
    await leases.forget(gone).catch(() => {})
    if (this.#backoff.isWaiting(trashName)) return
    await this.#trash.clear(trashMs).then(() => { this.#backoff.forget(trashName) }, (error: unknown) => {
      this.#tell(error, join(places.dir, trashName), this.#backoff.failed(trashName))
    })
  }

  #tell (error: unknown, path: string, failures: number): void {
    if (this.#stopped || failures < toldFailures) return
    this.#options.logger.warn({ err: error, path, failures }, 'sessions: files of a removed session could not be removed; they are tried again, ever more seldom')
  }
}
