import { HttpError } from '@toolyard/contract'
import {
  atNearPlace, belowNearPlace, checkNewNames, entryPath, lookAgain, mediaTypeOf, refusal, writeDraft,
  type Draft, type NearPlace, type Place, type WriteTurns
} from '@toolyard/workspace'
import { lstatSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { BodyPieces, type ComingBody } from './body-pieces.ts'
import { checkConditions, tagOf } from './conditions.ts'
import { noSuchFile } from './file-error.ts'
import type { FileSpace } from './file-space.ts'

/** A file that was put. */
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
  /** Undefined for an empty one. */
  body: ComingBody | undefined
  headers: IncomingHttpHeaders
}

/**
 * Writes a body to a file. It is written aside, in the last directory on the way that is there, and takes the place as a
 * whole; directories that are missing are made then. What breaks off leaves nothing.
 *
 * @throws HttpError, WorkspaceFailure, errors of the file system: see `toFileError`.
 */
export async function putFile (
  space: FileSpace, { names, body, headers }: Upload, turns: WriteTurns
): Promise<{ file: PutFile, isNew: boolean }> {
  checkNewNames(names)
  if (names.length === 0) throw new HttpError('CONFLICT', 'There is a directory')
  const options = { notFound: noSuchFile, mayBeMissing: true, makeParents: true }
  return await atNearPlace(space, `./${names.join('/')}`, options, async near => {
    checkTarget(near)
    if (near.missing.length === 0) checkConditions(headers, tagAt(near))
    else checkConditions(headers, undefined)
    const room = await space.room()
    const pieces = new BodyPieces(body, space.signal, room === undefined ? undefined : room + (near.stats?.size ?? 0))
    const draft = await writeDraft(near.directory, pieces, near.stats)
    const { bytes, sha256 } = pieces.received()
    try {
      return await belowNearPlace(near, space.signal, async place => {
        const { before, etag } = await turns.run({ directory: place.directory, name: place.name, signal: space.signal }, async check => {
          return await takePlace(place, draft, { headers, check })
        })
        space.changed(bytes - (before?.size ?? 0))
        return { isNew: before === undefined, file: { path: place.relative, size: bytes, type: mediaTypeOf(place.name), sha256, etag } }
      })
    } catch (error) {
      await draft.discard()
      throw error
    }
  })
}

/** @throws HttpError where something is that a file doesn't replace. */
function checkTarget ({ name, stats }: Pick<Place, 'name' | 'stats'>): void {
  if (name === '.' || stats?.isDirectory() === true) throw new HttpError('CONFLICT', 'There is a directory')
  if (stats !== undefined && !stats.isFile()) throw new HttpError('CONFLICT', 'There is something that is not a file')
}

/** What is there now may be something else than when the upload began. */
async function takePlace (
  place: Place, draft: Draft, { headers, check }: { headers: IncomingHttpHeaders, check: () => void }
): Promise<{ before: { size: number } | undefined, etag: string }> {
  const now = await lookAgain(place)
  checkTarget(now)
  if (now.stats !== undefined && place.root.service.has(entryPath(place.directory, place.name), now.stats)) throw refusal()
  checkConditions(headers, now.stats === undefined ? undefined : tagAt(place))
  check()
  await draft.put(place)
  return { before: now.stats, etag: tagAt(place) }
}

function tagAt ({ directory, name }: Pick<NearPlace, 'directory' | 'name'>): string {
  return tagOf(lstatSync(entryPath(directory, name), { bigint: true }))
}
