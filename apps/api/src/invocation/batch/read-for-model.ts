import { isRecord, limits, orElse, readJson, writeJson } from '@toolyard/contract/terms'
import { truncate, type OutputStore, type TruncatedOutput } from '@toolyard/queue'
import type { Publication } from '../../catalog/tool-catalog.ts'
import { mayShowImages, shownBlocks } from '../../outputs/shown-images.ts'
import type { AnswerRoom } from '../../plugins/load/unsent-answers.ts'
import type { ReadOutput, ShownOutput, ToldOutput } from './call-answer.ts'

interface ModelReading {
  maxOutputChars: number | undefined
  /** Whether the messages of the answer take images. */
  showsImages: boolean
  publication: Publication
  room: AnswerRoom | undefined
}

/** Bytes of an output, and of those of a batch, that are read as a whole for the images in them: more would take too long a turn. */
const mostImageBytes = { one: 2_097_152, all: 6_291_456 }

/** Reads the outputs of a batch as models get them, with a word on how they come to the rest of one that is cut. */
export function readForModel (outputs: OutputStore, { maxOutputChars, showsImages, publication, room }: ModelReading): ReadOutput {
  let imageBytes = showsImages ? mostImageBytes.all : 0
  const asked = maxOutputChars === undefined ? undefined : { chars: maxOutputChars, hasTail: true }
  return async (queue, jobId, record, tool = '') => {
    const cutting = asked ?? (publication.skillReaders.has(tool) ? { chars: limits.skillChars, hasTail: false } : undefined)
    // A character has 3 bytes at most. What travels with its job is small, but for answers of the service itself.
    room?.take(record.kind === 'stored' ? Math.min(record.bytes, 3 * (cutting?.chars ?? limits.outputChars)) : record.text?.length ?? 0)
    const { value, cut } = await outputs.readForModel(queue, jobId, record, cutting)
    const shown = showsImages ? await blocksOf() : undefined
    return { ...told(value, cut), ...shown && { shown } }

    function told (output: unknown, part: TruncatedOutput | undefined, behind = offsetBehind): ToldOutput {
      if (part === undefined) return { value: output }
      const kept = record.cut === undefined ? '' : `, of which ${record.cut.storedBytes} were kept`
      return { value: part, notice: cutNotice({ jobId, bytes: `${part.bytes} bytes${kept}`, from: behind(part.preview) }, publication) }
    }

    async function blocksOf (): Promise<ShownOutput | undefined> {
      const begin = cut?.preview ?? (isRecord(value) ? writeJson(value) : '')
      const bytes = cut?.bytes ?? begin.length
      if (record.cut !== undefined || bytes > Math.min(mostImageBytes.one, imageBytes) || !mayShowImages(begin)) return undefined
      imageBytes -= bytes
      room?.take(bytes)
      const blocks = await shownBlocks(cut === undefined ? begin : await outputs.readJson(queue, jobId, record) ?? '')
      if (blocks === undefined) return undefined
      const { json, images } = blocks
      const { chars, hasTail } = cutting ?? { chars: limits.outputChars, hasTail: false }
      const part = json.length > chars ? truncate(json, bytes, { chars, ...hasTail && { end: json } }) : undefined
      return { ...told(part ?? readJson(json), part, blocks.offsetBehind), images }
    }
  }
}

/** Told of a cut output, if the key sees the tools that read on. */
export function cutNotice (
  { jobId, bytes, from }: { jobId: string, bytes: string, from: number }, { services }: Publication
): string | undefined {
  // Found tools are kept nowhere.
  if (jobId === '') return undefined
  const ways = [
    ...services.has('output_read') ? [`output_read with {"job_id": "${jobId}", "offset": ${from}} reads on`] : [],
    ...services.has('output_search') ? [`output_search with {"job_id": "${jobId}", "pattern": ...} finds lines in it`] : []
  ]
  return ways.length === 0 ? undefined : `This is a part of an output of ${bytes}: ${ways.join(', ')}`
}

/** Where `output_read` goes on after what was shown. Of a text it reads the characters, and its JSON was shown. */
export function offsetBehind (preview: string): number {
  if (!preview.startsWith('"')) return preview.length
  // The last escape may have been cut.
  const whole = preview.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, '$1')
  return orElse(() => String(JSON.parse(`${whole}"`)).length, 0)
}
