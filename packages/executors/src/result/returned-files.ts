import { errorCode, isRecord, limits, readJsonInTurns, writeJson } from '@toolyard/contract/terms'
import { atPlace, hashBounds, readContent, shown, WorkspaceFailure, type Content } from '@toolyard/workspace'
import { setImmediate as turn } from 'node:timers/promises'
import { Turns } from '@toolyard/runtime'
import { interruptionError } from '../run/interruption.ts'
import { failure, type Outcome, type RunContext, type SessionPlace, type Success } from '../run/outcome.ts'
import { shortOutput } from './large-output.ts'
import { storeFile } from './stored-file.ts'

/*
 * A tool returns a file as `{"$file": "chart.png"}`, anywhere in its output. In a session that becomes a reference, with what the
 * file is. The host of Python tools writes bytes as `{"$bytes": BASE64}`, which are stored as a file first.
 */

/** Other fields of a reference: one that was returned may be returned again. */
const fields: ReadonlySet<string> = new Set(['$file', 'type', 'size', 'sha256'])

interface ReturnPlace {
  session: SessionPlace
  secretForms: RunContext['secretForms']
  /** The path that the tool knows it by. */
  knownAs: string
  /** Whether the tool may read there. What it can't read, it can't show. */
  mayRead: boolean
  signal: RunContext['signal']
}

/** The outcome of a call in a session, with the files that its output returns looked up; OUTPUT_INVALID names one that can't be. */
export async function withReturnedFiles (
  outcome: Outcome, { session, secretForms, signal }: RunContext, place: Pick<ReturnPlace, 'knownAs' | 'mayRead'>
): Promise<Outcome> {
  if (!outcome.ok || session === undefined) return outcome
  const { isStored = false, ...ended } = outcome
  return await lookUp(ended, { ...place, mayRead: place.mayRead || isStored, session, secretForms, signal })
}

async function lookUp (outcome: Success, place: ReturnPlace): Promise<Outcome> {
  const { json, cut, parts = 0 } = outcome
  if (cut !== undefined || (json !== undefined && !json.includes('"$file"') && !json.includes('"$bytes"'))) return outcome
  if (parts > limits.bodyParts) return failure('OUTPUT_INVALID', `the output returns files, and holds more than ${limits.bodyParts} objects, lists and fields: have it return fewer, or write them to a file`)
  const returns = new Returns(place)
  try {
    const whole: { output: unknown } = { output: json === undefined ? outcome.output : await readJsonInTurns(json.toString(), turn) }
    // A large one was parsed in this turn of the event loop.
    if (json !== undefined) await turn()
    const places = await placesIn(whole)
    if (places.length === 0) return outcome
    for (const { holder, name, returned } of places) Reflect.set(holder, name, await returns.resolve(returned))
    const { output } = whole
    if (json === undefined) return { ...outcome, output }
    await turn()
    const text = writeJson(output)
    return text.length > shortOutput ? { ...outcome, json: Buffer.from(text) } : { ok: true, output }
  } catch (error) {
    if (error instanceof WorkspaceFailure) return failure(error.code, error.message)
    if (place.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: place.signal.reason }) }
    throw error
  }
}

class Returns {
  count = 0
  readonly #place: ReturnPlace
  #hashBytes = 0

  constructor (place: ReturnPlace) {
    this.#place = place
  }

  async resolve ({ file, bytes = '' }: Returned): Promise<unknown> {
    return file === undefined ? await this.#store(bytes) : await this.#reference(file)
  }

  async #store (base64: string): Promise<unknown> {
    this.#checkCount()
    return await this.#reference(await storeFile(Buffer.from(base64, 'base64'), 'output.bin', this.#place), true)
  }

  async #reference (path: string, mayRead = this.#place.mayRead): Promise<Content & { $file: string }> {
    this.count += 1
    this.#checkCount()
    const said = `the output returns the file ${shown(path)}`
    if (!mayRead) throw new WorkspaceFailure(`${said}: the tool needs the permission read_repo for that`, 'OUTPUT_INVALID')
    const { session, signal } = this.#place
    const workspace = { path: session.dir, serviceFiles: [] }
    try {
      return await atPlace({ workspace, signal }, this.#inside(path), { notFound: 'it is not there' }, async place => {
        const content = place.stats?.isFile() === true
          ? await readContent(place, Math.min(hashBounds.one, hashBounds.all - this.#hashBytes))
          : undefined
        if (content === undefined) throw new WorkspaceFailure('it is no file that can be read')
        if (content.sha256 !== undefined) this.#hashBytes += content.size
        return { $file: place.relative, ...content }
      })
    } catch (error) {
      if (error instanceof WorkspaceFailure) throw new WorkspaceFailure(`${said}: ${error.message}`, 'OUTPUT_INVALID')
      const code = errorCode(error)
      if (code === undefined) throw error
      throw new WorkspaceFailure(`${said}: ${code}`, 'OUTPUT_INVALID')
    }
  }

  /** In its box, a tool finds the session in the place of the workspace. */
  #inside (path: string): string {
    const { knownAs } = this.#place
    return path === knownAs || path.startsWith(`${knownAs}/`) ? path.slice(knownAs.length + 1) || '.' : path
  }

  #checkCount (): void {
    if (this.count > limits.resultFiles) throw new WorkspaceFailure(`the output returns more than ${limits.resultFiles} files: have it pack them into one`, 'OUTPUT_INVALID')
  }
}

interface Returned {
  file?: string
  bytes?: string
}

interface Place { holder: object, name: string | number }

/** Where an output returns files, in their order. What is found takes its place there. */
async function placesIn (whole: object): Promise<Array<Place & { returned: Returned }>> {
  const turns = new Turns()
  const places: Array<Place & { returned: Returned }> = []
  const open: Place[] = [{ holder: whole, name: 'output' }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const holder: unknown = Reflect.get(place.holder, place.name)
    if (typeof holder !== 'object' || holder === null) continue
    const returned = returnedBy(holder)
    if (returned !== undefined) {
      places.push({ ...place, returned })
      continue
    }
    const inner: Place[] = []
    for (const name of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      if (turns.isOver()) await turns.next()
      const value: unknown = Reflect.get(holder, name)
      if (typeof value === 'object' && value !== null) inner.push({ holder, name })
    }
    open.push(...inner.reverse())
  }
  return places
}

function returnedBy (value: object): Returned | undefined {
  if (!isRecord(value)) return undefined
  const { $file: file, $bytes: bytes } = value
  if (typeof file === 'string') return Object.keys(value).every(name => fields.has(name)) ? { file } : undefined
  return typeof bytes === 'string' && Object.keys(value).length === 1 ? { bytes } : undefined
}
