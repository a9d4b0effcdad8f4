import type { OutputCut, OutputRecord } from '@toolyard/contract'
import { limits, mayLoseText, readWhole, firstChars } from '@toolyard/contract/terms'
import { StringDecoder } from 'node:string_decoder'
import { type Redis, outputKey, asRedisError, RedisFullError, whileAvailable } from '@toolyard/store'
import type { Repeat } from '../backend/job-worker.ts'
import { outputSec, type Retention } from '../record/retention.ts'
import { LargeReads } from './large-reads.ts'

/** While Redis is full, an output is tried to be stored this long, in milliseconds. */
const patienceMs = 3_000
/** So much of an output is read at once. */
const pieceBytes = 524_288

/** For a model whose answer is too small for the output. */
export interface TruncatedOutput {
  truncated: true
  /** Size in bytes of the output's JSON, or of what the tool wrote when that was more than was kept. */
  bytes: number
  preview: string
  /** Its end, where the request said how much is shown. */
  tail?: string
}

interface ModelOutput {
  value: unknown
  /** The same, where it is not whole. */
  cut?: TruncatedOutput
}

/** Outputs of more than a few KiB: stored once, beside the job, and read by whoever needs them. */
export class OutputStore {
  /** For all that may be large. */
  readonly reads: LargeReads
  readonly #redis: Redis
  readonly #retention: Retention

  constructor (redis: Redis, retention: Retention) {
    this.reads = new LargeReads(redis)
    this.#redis = redis
    this.#retention = retention
  }

  /** Keeps an output; `json` is the JSON of `value`. Bytes are those of a long one. `repeat`: while Redis can't take it. */
  async save (
    { queue, id: jobId, repeat }: { queue: string, id: string, repeat: Repeat },
    { json, value, cut }: { json: string | Buffer, value: unknown, cut?: OutputCut }
  ): Promise<OutputRecord> {
    const tail = cut === undefined ? {} : { cut }
    if (typeof json === 'string' && json.length <= limits.inlineOutputBytes) {
      const text = mayLoseText(json) && JSON.stringify(value) !== json ? { text: json } : {}
      return { kind: 'inline', value, ...text, ...tail }
    }
    const bytes = Buffer.byteLength(json)
    if (await repeat(this.#storing(outputKey(queue, jobId), json))) return { kind: 'stored', bytes, ...tail }
    // The call has done its work, so it must succeed; so much of its output fits into the job's record.
    const kept = truncate(json.slice(0, limits.inlineOutputBytes).toString(), bytes).preview
    return { kind: 'inline', value: kept, cut: { bytes: cut?.bytes ?? bytes, storedBytes: Buffer.byteLength(kept) } }
  }

  /** Whether there is room for an output, now or soon. */
  #storing (key: string, json: string | Buffer): () => Promise<boolean> {
    const since = performance.now()
    return async () => {
      try {
        await this.#redis.set(key, json, 'EX', outputSec(this.#retention))
        return true
      } catch (error) {
        if (asRedisError(error) instanceof RedisFullError && performance.now() - since >= patienceMs) return false
        throw error
      }
    }
  }

  /**
   * The JSON of the whole output, in one line; undefined when its retention time is over. Who needs the value of a large
   * one must parse it elsewhere: a megabyte takes 0.1 s.
   *
   * @throws RedisUnavailableError
   */
  async readJson (queue: string, jobId: string, record: OutputRecord): Promise<string | undefined> {
    if (record.kind === 'inline') return record.text ?? JSON.stringify(record.value)
    const decoder = new StringDecoder()
    const texts: string[] = []
    return await this.#read(queue, jobId, record.bytes, piece => { texts.push(decoder.write(piece)) }) ? texts.join('') : undefined
  }

  /**
   * The same in pieces, for who passes it on: a megabyte of control characters has 6 MB of JSON, which take 0.1 s to
   * become a text and bytes again.
   *
   * @throws RedisUnavailableError
   */
  async readPieces (queue: string, jobId: string, record: OutputRecord): Promise<Buffer[] | undefined> {
    if (record.kind === 'inline') return [Buffer.from(record.text ?? JSON.stringify(record.value))]
    const pieces: Buffer[] = []
    return await this.#read(queue, jobId, record.bytes, piece => { pieces.push(piece) }) ? pieces : undefined
  }

  /** Whether the output was there until the last piece was read. */
  async #read (queue: string, jobId: string, bytes: number, take: (piece: Buffer) => void): Promise<boolean> {
    for (let start = 0; start < bytes; start += pieceBytes) {
      const end = Math.min(start + pieceBytes, bytes)
      const piece = await this.#range(queue, jobId, { start, end: end - 1, bytes: end - start })
      if (piece.length < end - start) return false
      take(piece)
    }
    return true
  }

  /** The output as an answer carries it: whole up to the cut, else its beginning. */
  async readForModel (
    queue: string, jobId: string, record: OutputRecord, cutting: OutputCutting = documentedCut
  ): Promise<ModelOutput> {
    if (record.kind === 'inline' && record.cut === undefined && fitsInline(cutting)) {
      return { value: record.text === undefined ? record.value : readWhole(record.text) }
    }
    const read = await this.#readCut(queue, jobId, record, cutting)
    return typeof read === 'string' ? { value: readWhole(read) } : { value: read, cut: read }
  }

  /** The same as JSON text, for who doesn't need the value. */
  async readJsonForModel (queue: string, jobId: string, record: OutputRecord): Promise<string> {
    const read = await this.#readCut(queue, jobId, record, documentedCut)
    return typeof read === 'string' ? read : JSON.stringify(read)
  }

  /** The JSON of an output that is short enough. */
  async #readCut (
    queue: string, jobId: string, record: OutputRecord, { chars, hasTail }: OutputCutting
  ): Promise<string | TruncatedOutput> {
    const bytes = record.cut?.bytes ?? (record.kind === 'stored' ? record.bytes : undefined)
    if (record.kind === 'inline') {
      const json = record.text ?? JSON.stringify(record.value)
      if (record.cut === undefined && json.length <= chars) return json
      return truncate(json, bytes ?? Buffer.byteLength(json), { chars, ...hasTail && { end: json } })
    }
    // A character takes at most 3 bytes per UTF-16 unit; one unit more shows whether there is more.
    const asked = 3 * (chars + 1)
    const head = await this.#range(queue, jobId, { start: 0, end: asked, bytes: Math.min(asked, record.bytes) })
    if (head.length === 0) throw new Error('The output is gone: its retention time is over')
    const whole = head.length === record.bytes ? head.toString() : undefined
    if (whole !== undefined && whole.length <= chars && record.cut === undefined) return whole
    const end = hasTail ? whole ?? await this.#end(queue, jobId, 3 * tailOf(chars)) : undefined
    return truncate(whole ?? head.toString(), bytes ?? record.bytes, { chars, ...end !== undefined && { end } })
  }

  /** The last characters that were kept, without the half of one. */
  async #end (queue: string, jobId: string, bytes: number): Promise<string> {
    const tail = await this.#range(queue, jobId, { start: -bytes, end: -1, bytes })
    const start = tail.findIndex(byte => (byte & 0xc0) !== 0x80)
    return tail.subarray(Math.max(0, start)).toString()
  }

  async #range (queue: string, id: string, { start, end, bytes }: { start: number, end: number, bytes: number }): Promise<Buffer> {
    const read = async (): Promise<Buffer> => await whileAvailable(this.#redis.getrangeBuffer(outputKey(queue, id), start, end))
    return await this.reads.read({ queue, id }, bytes, read)
  }
}

/** From which length on an output is cut, and whether its end is shown, too. */
interface OutputCutting {
  /** UTF-16 units of its JSON. */
  chars: number
  hasTail: boolean
}

const documentedCut: OutputCutting = { chars: limits.outputChars, hasTail: false }

/** Whether an output that travels with its job is surely short enough. */
function fitsInline ({ chars }: OutputCutting): boolean {
  return chars >= limits.inlineOutputBytes
}

/** How much of the characters that are shown is for the end. */
function tailOf (chars: number): number {
  return Math.floor(chars / 4)
}

export function truncate (
  json: string, bytes: number, { chars, end }: { chars: number, end?: string } = { chars: limits.outputChars }
): TruncatedOutput {
  if (end === undefined) return { truncated: true, bytes, preview: firstChars(json, chars) }
  const preview = firstChars(json, chars - tailOf(chars))
  const from = Math.max(end.length - tailOf(chars), end === json ? preview.length : 0)
  return { truncated: true, bytes, preview, tail: end.slice(from).replace(/^[\udc00-\udfff]/, '') }
}
