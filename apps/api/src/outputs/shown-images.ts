import { limits, readJsonInTurns, writeJson } from '@toolyard/contract'
import { Turns } from '@toolyard/runtime'
import { typeOfBytes } from '@toolyard/workspace'
import { setImmediate as turn } from 'node:timers/promises'
import { excessOf } from '../plugins/body/json-text.ts'
import { sizeOfImage, type ImageSize } from './image-size.ts'

/** An image that a model is shown beside the text of an answer. */
export interface ShownImage {
  /** Its media type. */
  type: string
  /** In Base64. */
  data: string
}

/** An output in MCP's own blocks, as a model gets it: the images stand beside it. */
export interface ShownBlocks {
  /** Without the data of its images. */
  json: string
  images: ShownImage[]
  /** Where the whole output goes on behind a beginning of `json`. */
  offsetBehind: (preview: string) => number
}

/** Types that all models take. */
export const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** Bytes of one image and of all images of an answer, and how many one call gives. Larger ones are fetched otherwise. */
export const mostImages = { one: 1_048_576, all: 4_194_304, ofCall: 8 }

/** Pixels of a side that the strictest of the providers takes, Anthropic. A screenshot of a long page has more. */
const mostPixels = 8_000

/** Providers refuse a request for one image that is larger, and with it the conversation for good. */
export function isOfSize (size: ImageSize | undefined): boolean {
  return size !== undefined && [size.width, size.height].every(side => side > 0 && side <= mostPixels)
}

/** Whether JSON may be an output in MCP's own blocks with an image in it; its beginning is enough. */
export function mayShowImages (json: string): boolean {
  return /^\{\s*"content"\s*:\s*\[\s*\{/.test(json)
}

/**
 * The images of an output such as `{"content": [{"type": "image", "mimeType": ..., "data": ...}]}`. Providers refuse a whole request
 * for one image that isn't what it says: the type is that of its bytes, and what isn't an image that all take stays out.
 *
 * @returns undefined for an output without images
 */
export async function shownBlocks (json: string): Promise<ShownBlocks | undefined> {
  if (!mayShowImages(json) || isTooLarge(json)) return undefined
  const value = await readJsonInTurns(json, turn)
  const content = typeof value === 'object' && value !== null && 'content' in value && Array.isArray(value.content) ? value.content as unknown[] : []
  const images: ShownImage[] = []
  const notes: Note[] = []
  let found = 0
  const turns = new Turns()
  for (const block of content) {
    if (turns.isOver()) await turns.next()
    if (!isImageBlock(block)) continue
    const { data } = block
    const bytes = Buffer.byteLength(data, 'base64')
    const image = imageOf(data)
    const isShown = image !== undefined && images.length < mostImages.ofCall && bytes <= mostImages.one && isOfSize(image.size)
    if (isShown) images.push({ type: image.type, data })
    if (image !== undefined) found += 1
    block.data = isShown ? `shown as an image: ${bytes} bytes` : `left out: ${bytes} bytes${sidesOf(image?.size)}`
    notes.push({ text: JSON.stringify(block.data), replaced: JSON.stringify(data).length })
  }
  if (found === 0) return undefined
  const shown = writeJson(value)
  return { json: shown, images, offsetBehind: ({ length }) => offsetBehind(length, shown, notes) }
}

/** What stands in place of data, and how many characters of JSON that had. */
interface Note {
  text: string
  replaced: number
}

function offsetBehind (chars: number, json: string, notes: readonly Note[]): number {
  let [offset, end] = [chars, 0]
  for (const { text, replaced } of notes) {
    const start = json.indexOf(text, end)
    end = start + text.length
    // Where a note is cut, the model goes on with what it stands for.
    if (end > chars) return offset - Math.max(0, chars - start)
    offset += replaced - text.length
  }
  return offset
}

/** Whether reading an output would hold up the process: it has too many values, or too many levels. */
export function isTooLarge (json: string): boolean {
  return json.length > limits.bodyParts && typeof excessOf(json, limits.bodyParts, limits.outputDepth) === 'string'
}

function isImageBlock (block: unknown): block is { type: 'image', data: string } {
  return typeof block === 'object' && block !== null && 'type' in block && block.type === 'image' && 'data' in block && typeof block.data === 'string'
}

function imageOf (data: string): { type: string, size: ImageSize | undefined } | undefined {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined
  const bytes = Buffer.from(data, 'base64')
  const type = typeOfBytes(bytes)
  return type !== undefined && imageTypes.has(type) ? { type, size: sizeOfImage(bytes, type) } : undefined
}

function sidesOf (size: ImageSize | undefined): string {
  return size === undefined ? '' : `, ${size.width} x ${size.height} pixels`
}
