import { createHash } from 'node:crypto'
import { parse } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { openTopDirectory, readContent, storageFailure, writeDraft, WorkspaceFailure } from '@toolyard/workspace'
import { failure, type Outcome, type SessionPlace } from '../run/outcome.ts'
import { holdsText } from './hidden-bytes.ts'

interface BinaryOutput {
  /** Begins the message of a failure. */
  what: string
  bytes: Buffer
  fileName: string
}

/** Where an output of a call is stored, and what may not be in it. */
export interface StoringCall {
  session?: SessionPlace | undefined
  secretForms?: readonly string[] | undefined
}

/** An output that is no text: a file of the session of its call, or OUTPUT_INVALID without one. */
export async function storedOutput ({ what, bytes, fileName }: BinaryOutput, { session, secretForms }: StoringCall): Promise<Outcome> {
  if (session === undefined) return failure('OUTPUT_INVALID', `${what}; in a session it would be the file ${fileName}`)
  try {
    return { ok: true, output: { $file: await storeFile(bytes, fileName, { session, secretForms }) }, isStored: true }
  } catch (error) {
    if (error instanceof WorkspaceFailure) return failure(error.code, error.message)
    throw error
  }
}

/**
 * Stores what a tool gave as a new file of its session. Calls of a session run at the same time and each keeps its own: where the
 * name is taken by other content, the beginning of the content's SHA-256 is in it, as in `output-9f86d081884c.bin`.
 *
 * @returns the name.
 * @throws WorkspaceFailure where it holds a secret of the call, there is no room, or the file can't be made.
 */
export async function storeFile (
  bytes: Buffer, name: string, { session, secretForms = [] }: StoringCall & { session: SessionPlace }
): Promise<string> {
  // A secret in a file can't be replaced without spoiling the rest.
  if (await holdsText(bytes, secretForms)) {
    throw new WorkspaceFailure(`the output can't be stored as the file ${name}: it holds a secret of the call`, 'OUTPUT_INVALID')
  }
  await session.takeRoom?.(bytes.length)
  const directory = openTopDirectory(session.dir)
  try {
    const draft = await writeDraft(directory, bytes, undefined)
    try {
      await draft.put({ directory, name }, 'nothing')
      return name
    } catch {
      // It is taken, or the file system has no second names, which this is done with.
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      if ((await readContent({ directory, name }, bytes.length))?.sha256 === sha256) return name
      const { name: base, ext } = parse(name)
      const own = `${base}-${sha256.slice(0, 12)}${ext}`
      await draft.put({ directory, name: own })
      return own
    } finally {
      await draft.discard()
    }
  } catch (error) {
    const full = storageFailure(error)
    const why = full?.message ?? errorCode(error)
    if (why === undefined) throw error
    throw new WorkspaceFailure(`the output can't be stored as the file ${name}: ${why}`, full?.code ?? 'OUTPUT_INVALID')
  } finally {
    directory.handle.close()
  }
}
