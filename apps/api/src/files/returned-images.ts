import { createHash } from 'node:crypto'
import { isRecord } from '@toolyard/contract'
import { atPlace, openFile, readFully } from '@toolyard/workspace'
import type { Principal } from '../access/principal.ts'
import type { AnswerRoom } from '../plugins/load/unsent-answers.ts'
import { sizeOfImage } from '../outputs/image-size.ts'
import { imageTypes, isOfSize, mostImages, type ShownImage } from '../outputs/shown-images.ts'
import type { FileSpace } from './file-space.ts'
import { noSuchFile } from './file-error.ts'
import type { SessionFiles } from './session-files.ts'

/** A file that an output returns: see `returned-files.ts` of the executors. */
interface Reference { path: string, type: string, size: number, sha256: string }

/** Values of an output that are looked through for references. */
const mostValues = 10_000

interface ImageReading {
  session: string | undefined
  principal: Principal
  /** For the images of an answer that may have those of many calls. */
  room?: AnswerRoom
}

export class ReturnedImages {
  readonly #files: SessionFiles

  constructor (files: SessionFiles) {
    this.#files = files
  }

  /**
   * The images of each output, in the order of its references. An image that is too large, that was changed since, or that
   * this service may not read is left out: the reference stays in the text. Never rejected.
   */
  async read (outputs: readonly unknown[], { session, principal, room }: ImageReading): Promise<ShownImage[][]> {
    const none = outputs.map((): ShownImage[] => [])
    const mayRead = principal.permissions === undefined || principal.permissions.includes('read_repo')
    const wanted = outputs.map(referencesIn)
    if (session === undefined || !mayRead || wanted.every(references => references.length === 0)) return none
    const space = await this.#files.open(session, principal).catch(() => undefined)
    if (space === undefined) return none
    try {
      return await readAll(space, wanted, room)
    } finally {
      space.leave()
    }
  }
}

async function readAll (
  space: FileSpace, wanted: ReadonlyArray<readonly Reference[]>, room: AnswerRoom | undefined
): Promise<ShownImage[][]> {
  let left = mostImages.all
  const images: ShownImage[][] = []
  for (const references of wanted) {
    const own: ShownImage[] = []
    for (const reference of references.slice(0, mostImages.ofCall)) {
      const image = reference.size > left ? undefined : await readOne(space, reference, room).catch(() => undefined)
      if (image === undefined) continue
      left -= reference.size
      own.push(image)
    }
    images.push(own)
  }
  return images
}

/** Undefined for a file that isn't any more what was returned, or has more pixels than models take. */
async function readOne (
  space: FileSpace, { path, type, size, sha256 }: Reference, room: AnswerRoom | undefined
): Promise<ShownImage | undefined> {
  return await atPlace(space, path, { notFound: noSuchFile }, async place => {
    if (place.stats?.isFile() !== true || place.stats.size !== size) return undefined
    const { handle } = openFile(place)
    try {
      room?.take(size)
      const bytes = await readFully(handle, 0, size)
      if (createHash('sha256').update(bytes).digest('hex') !== sha256 || !isOfSize(sizeOfImage(bytes, type))) return undefined
      return { type, data: bytes.toString('base64') }
    } finally {
      handle.close()
    }
  })
}

/** The small images that an output returns, each once. */
function referencesIn (output: unknown): Reference[] {
  const found = new Map<string, Reference>()
  const left: unknown[] = [output]
  for (let values = 0; left.length > 0 && values < mostValues; values++) {
    const value = left.pop()
    if (Array.isArray(value)) left.push(...(value as unknown[]).slice(0, mostValues).reverse())
    else if (isRecord(value)) {
      const reference = referenceOf(value)
      if (reference !== undefined) found.set(reference.path, reference)
      else left.push(...Object.values(value).slice(0, mostValues).reverse())
    }
  }
  return [...found.values()]
}

function referenceOf ({ $file: path, type, size, sha256 }: Record<string, unknown>): Reference | undefined {
  if (typeof path !== 'string' || typeof type !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string') return undefined
  return imageTypes.has(type) && size > 0 && size <= mostImages.one ? { path, type, size, sha256 } : undefined
}
