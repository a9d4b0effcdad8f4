import { HttpError } from '@toolyard/contract'
import {
  atNearPlace, belowNearPlace, entryPath, lookAgain, mediaTypeOf, refusal, writeDraft,
  type Draft, type NearPlace, type Place, type WriteTurns, type Allowance
} from '@toolyard/workspace'
import { lstatSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { CountedPieces, piecesOf, type ComingBody, type Received } from './body-pieces.ts'
import { checkConditions, tagOf } from './conditions.ts'
import { noSuchFile } from './file-error.ts'
import { bytesFreedBy, type RequestedSpace } from './file-space.ts'

export interface PutFile {
  path: string
  size: number
  type: string
  sha256: string
  etag: string
}

/** A file to put: where, its content, and what must hold for that. */
export interface Upload {
  names: readonly string[]
  content: AsyncIterable<Uint8Array>
  /** How many bytes will come, as far as that is known. */
  bytes: number
  headers: IncomingHttpHeaders
  /** Whether a file that wasn't there can be run. */
  isProgram?: boolean
}

/** A file that is written aside, and its part of the quota. */
interface MadeDraft { draft: Draft, allowance: Allowance }

const nothing: AsyncIterable<Uint8Array> = { async * [Symbol.asyncIterator] () {} }

/** Undefined for an empty body. */
export function contentOf (body: ComingBody | undefined, signal: AbortSignal): Pick<Upload, 'content' | 'bytes'> {
  if (body === undefined) return { content: nothing, bytes: 0 }
  return { content: piecesOf(body, signal), bytes: Number(body.request.headers['content-length'] ?? 0) }
}

/**
 * Writes a file. Its content is written aside, in the last directory on the way that is there, and takes the place as a
 * whole; directories that are missing are made then. What breaks off leaves nothing.
 *
 * @throws HttpError, WorkspaceFailure, errors of the file system: see `toFileError`.
 */
export async function putFile (
  space: RequestedSpace, { names, content, bytes: coming, headers, isProgram = false }: Upload, turns: WriteTurns
): Promise<{ file: PutFile, isNew: boolean }> {
  if (names.length === 0) throw new HttpError('CONFLICT', 'There is a directory')
  const options = { notFound: noSuchFile, mayBeMissing: true, makeParents: true }
  return await atNearPlace(space, `./${names.join('/')}`, options, async near => {
    checkTarget(near)
    if (near.missing.length === 0) checkConditions(headers, tagAt(near))
    else checkConditions(headers, undefined)
    const allowance = await space.allow({ coming, entries: near.missing.length, replaced: bytesFreedBy(near.stats) })
    try {
      const pieces = new CountedPieces(content, allowance)
      const draft = await writeDraft(near.directory, pieces, near.stats, isProgram ? 0o777 : 0o666, space.toDisk)
      const put = await placed(near, { draft, allowance }, pieces.received()).catch(async (error: unknown) => {
        await draft.discard()
        throw error
      })
      allowance.end(true)
      return put
    } catch (error) {
      allowance.end(false)
      throw error
    }
  })

  async function placed (near: NearPlace, made: MadeDraft, { bytes, sha256 }: Received): Promise<{ file: PutFile, isNew: boolean }> {
    return await belowNearPlace(near, space, async place => {
      const { isNew, etag } = await turns.run({ directory: place.directory, name: place.name, signal: space.signal }, async check => {
        return await space.toDisk(async () => await takePlace(place, made, { headers, check }))
      })
      return { isNew, file: { path: place.relative, size: bytes, type: mediaTypeOf(place.name), sha256, etag } }
    })
  }
}

/** @throws HttpError where something is that a file doesn't replace. */
function checkTarget ({ name, stats }: Pick<Place, 'name' | 'stats'>): void {
  if (name === '.' || stats?.isDirectory() === true) throw new HttpError('CONFLICT', 'There is a directory')
  if (stats !== undefined && !stats.isFile()) throw new HttpError('CONFLICT', 'There is something that is not a file')
}

/** Something else may be there than when the upload began. */
async function takePlace (
  place: Place, { draft, allowance }: MadeDraft, { headers, check }: { headers: IncomingHttpHeaders, check: () => void }
): Promise<{ isNew: boolean, etag: string }> {
  const now = await lookAgain(place)
  checkTarget(now)
  if (now.stats !== undefined && place.root.service.has(entryPath(place.directory, place.name), now.stats)) throw refusal()
  checkConditions(headers, now.stats === undefined ? undefined : tagAt(place))
  allowance.replace(bytesFreedBy(now.stats))
  check()
  return { isNew: now.stats === undefined, etag: tagOf(await draft.put(place)) }
}

function tagAt ({ directory, name }: Pick<NearPlace, 'directory' | 'name'>): string {
  return tagOf(lstatSync(entryPath(directory, name), { bigint: true }))
}
