import { limits, orElse } from '@toolyard/contract/terms'
import type { OutputStore } from '@toolyard/queue'
import type { Publication } from '../../catalog/tool-catalog.ts'
import type { ReadOutput } from './call-answer.ts'

/** Reads outputs as models get them, with a word on how they come to the rest of one that is cut. */
export function readForModel (outputs: OutputStore, maxOutputChars: number | undefined, publication: Publication): ReadOutput {
  const asked = maxOutputChars === undefined ? undefined : { chars: maxOutputChars, hasTail: true }
  return async (queue, jobId, record, tool = '') => {
    const cutting = asked ?? (publication.skillReaders.has(tool) ? { chars: limits.skillChars, hasTail: false } : undefined)
    const { value, cut } = await outputs.readForModel(queue, jobId, record, cutting)
    if (cut === undefined) return { value }
    const kept = record.cut === undefined ? '' : `, of which ${record.cut.storedBytes} were kept`
    return { value, notice: cutNotice({ jobId, bytes: `${cut.bytes} bytes${kept}`, from: offsetBehind(cut.preview) }, publication) }
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
