import { isRecord, asError, limits, messageOf, readJsonInTurns, shortName, toBatch, type Batch, type BatchEntry, type CallError, type InvokeBatchRequest, type MessageCall } from '@toolyard/contract'
import { excessOf, problemOf, syntaxError } from '../../plugins/body/json-text.ts'
import { jsonFault } from '@toolyard/manifests'
import { nextTurn } from '@toolyard/runtime'
import type { MessageOrigin } from './message-answers.ts'

/** Levels of a request body above the arguments of one of its `calls`: the same arguments may nest as deep in a text. */
const levelsAbove = 3
/** UTF-16 units of a text that takes a turn of the event loop by itself. */
const turnChars = 65_536

/**
 * Makes a batch of a checked body, whichever form its calls come in, and says whose message it was.
 *
 * @param isPoisoned some arguments hold a key that nothing takes.
 */
export async function readBatch (
  body: InvokeBatchRequest, isPoisoned: boolean
): Promise<{ batch: Batch, message: MessageOrigin | undefined }> {
  const batch = toBatch(body)
  const found = messageOf(body)
  if (found === undefined) return { batch, message: undefined }
  const read = new ArgumentsReader(isPoisoned)
  const calls: BatchEntry[] = []
  for (const [index, call] of found.entries()) calls.push(await entryOf(call, idOf(call) ?? `call_at_${index}`, read))
  const entries = found.map(call => ({ dialect: call.dialect, program: call.program, hasId: idOf(call) !== undefined }))
  return { batch: { ...batch, calls }, message: { format: found[0]?.format ?? 'chat', calls: entries } }
}

/** Some local servers send no id, or an empty one. */
function idOf ({ id }: MessageCall): string | undefined {
  const text = typeof id === 'number' ? String(id) : id
  return typeof text !== 'string' || text.trim() === '' ? undefined : text
}

async function entryOf (call: MessageCall, id: string, reader: ArgumentsReader): Promise<BatchEntry> {
  const entry = { call_id: id, name: typeof call.name === 'string' ? call.name : '', arguments: {} }
  const refusal = refusalOf(call)
  if (refusal !== undefined) return { ...entry, error: refusal }
  const read = await reader.read(call.arguments)
  return read.kind === 'fault' ? { ...entry, error: { code: 'INVALID_ARGUMENTS', message: read.problem } } : { ...entry, arguments: read.value }
}

/** No look at the tools can change it. */
function refusalOf ({ at, name, dialect, incomplete }: MessageCall): CallError | undefined {
  if (typeof name !== 'string' || name.trim() === '') return { code: 'UNKNOWN_TOOL', message: `${at} has no name that is a text, so no tool can be looked up` }
  if (dialect === 'custom') return { code: 'UNKNOWN_TOOL', message: `'${shortName(name)}' was called as a custom tool, with a text; the tools here are functions` }
  if (incomplete === true) return { code: 'INVALID_ARGUMENTS', message: "the model's message ended before the call was complete" }
  return undefined
}

interface Read<Value> { kind: 'read', value: Value }
interface Fault { kind: 'fault', problem: string }

function fault (problem: string): Fault {
  return { kind: 'fault', problem }
}

/** Reads the arguments of a message's calls within the bounds of a body: what they hold is counted together. */
class ArgumentsReader {
  readonly #isPoisoned: boolean
  #partsLeft: number = limits.bodyParts

  constructor (isPoisoned: boolean) {
    this.#isPoisoned = isPoisoned
  }

  async read (value: unknown): Promise<Read<Record<string, unknown>> | Fault> {
    const read = typeof value === 'string' ? await this.#parse(value) : { kind: 'read' as const, value }
    if (read.kind === 'fault') return read
    if (read.value === undefined || read.value === null) return { kind: 'read', value: {} }
    if (!isRecord(read.value)) return fault('arguments must be an object')
    const problem = this.#isPoisoned ? problemOf(read.value, limits.bodyDepth, { largeNumbers: true }) : undefined
    return problem === undefined ? { kind: 'read', value: read.value } : fault(`arguments: the JSON ${problem}`)
  }

  async #parse (text: string): Promise<Read<unknown> | Fault> {
    // Models send nothing for a tool without parameters.
    if (text.trim() === '') return { kind: 'read', value: undefined }
    const takesTurns = text.length > turnChars
    if (takesTurns) await nextTurn()
    const parts = excessOf(text, this.#partsLeft, limits.bodyDepth - levelsAbove)
    if (typeof parts === 'string') return fault(`arguments: the JSON ${parts}`)
    if (takesTurns) await nextTurn()
    let value: unknown
    try {
      value = await readJsonInTurns(text, nextTurn)
    } catch (error) {
      // In a longer text the search for the place would take too long.
      const found = takesTurns ? undefined : jsonFault(text)
      return fault(`arguments aren't JSON: ${found === undefined ? syntaxError(asError(error)) : `${found.message} at line ${found.place.line}, column ${found.place.column}`}`)
    }
    if (takesTurns) await nextTurn()
    const problem = problemOf(value, limits.bodyDepth - levelsAbove)
    if (problem !== undefined) return fault(`arguments: the JSON ${problem}`)
    this.#partsLeft -= parts
    return { kind: 'read', value }
  }
}
