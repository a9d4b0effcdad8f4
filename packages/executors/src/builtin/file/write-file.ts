import { createHash } from 'node:crypto'
import { textArgument } from '../arguments.ts'
import { BuiltinFailure, type BuiltinContext, type BuiltinHandler } from '../handler.ts'
import { withLock } from '../workspace/lock.ts'
import { openFile, readFully } from '../workspace/open-file.ts'
import { atPlace, lookAgain, type Place, type PlaceOptions } from '../workspace/place.ts'
import { replaceFile, type FileStanding } from '../workspace/replace-file.ts'
import { fileBytes, makesFiles, readChange, type Change, type WriteMode } from './change.ts'
import { unifiedDiff } from './diff.ts'
import { previews } from './preview.ts'

/** What a file was before: absent, or its content and standing. */
interface Before {
  content: Buffer
  standing: FileStanding | undefined
}

/**
 * `data.write_file` (RC37): changes a file of the workspace as `mode` says, or makes it with `create_if_missing`. Readers
 * see the old or the new content, never a mixture; writers of one file, in whatever process, take turns, and permissions
 * stay. `expected_sha256` refuses to change what isn't as the caller knows it, `dry_run` changes nothing and returns the
 * `diff`. Returns `{ok, path, mode, dry_run, changed, created, bytes_before, bytes_after, sha256_before, sha256_after,
 * preview_before, preview_after}`; sizes in bytes, no `sha256_before` is null.
 */
export const writeWorkspaceFile: BuiltinHandler = async (args, context) => {
  const path = textArgument(args['path'])
  if (path === '') throw new BuiltinFailure('path is required')
  const change = readChange(args)
  const dryRun = args['dry_run'] === true
  const options: PlaceOptions = {
    notFound: missingMessage(change.mode),
    mayBeMissing: mayMake(args, change),
    makeParents: args['mkdir_p'] === true && !dryRun,
    missingParent: args['mkdir_p'] === true ? 'parent directory does not exist (dry_run makes none)' : 'parent directory does not exist (set mkdir_p=true)'
  }
  return await atPlace(context.workspaceDir, path, options, async place => {
    if (dryRun) return await write(place, change, args, context)
    return await withLock(place.directory, place.name, context.signal, () => write(place, change, args, context))
  })
}

async function write (place: Place, change: Change, args: Readonly<Record<string, unknown>>, { signal }: BuiltinContext): Promise<unknown> {
  const before = await readBefore(place, change, mayMake(args, change))
  const shaBefore = before.standing === undefined ? null : sha256(before.content)
  checkExpected(args['expected_sha256'], shaBefore)
  const after = change.apply(before.content)
  if (after.length > change.maxBytes) throw new BuiltinFailure(`the file would have ${after.length} bytes; max_bytes is ${change.maxBytes}`)
  const created = before.standing === undefined
  const changed = created || !after.equals(before.content)
  const dryRun = args['dry_run'] === true
  const diff = dryRun ? { diff: await unifiedDiff(place.relative, before.content, after) } : {}
  signal.throwIfAborted()
  if (changed && !dryRun) await replaceFile(place.directory, place.name, after, before.standing)
  return {
    ok: true,
    path: place.relative,
    mode: change.mode,
    dry_run: dryRun,
    changed,
    created,
    bytes_before: before.content.length,
    bytes_after: after.length,
    sha256_before: shaBefore,
    sha256_after: sha256(after),
    ...previews(before.content, after),
    ...diff
  }
}

function mayMake (args: Readonly<Record<string, unknown>>, change: Change): boolean {
  return makesFiles(change.mode) && args['create_if_missing'] === true
}

/** The content of now: whoever had the lock before may have changed, made or removed the file. */
async function readBefore (place: Place, change: Change, mayMake: boolean): Promise<Before> {
  const now = await lookAgain(place)
  if (now.stats === undefined) {
    if (!mayMake) throw new BuiltinFailure(missingMessage(change.mode))
    return { content: Buffer.alloc(0), standing: undefined }
  }
  const { handle, size, ...standing } = openFile(now)
  try {
    if (size > fileBytes.max) throw new BuiltinFailure(`the file has ${size} bytes, more than the ${fileBytes.max} that can be written`)
    return { content: await readFully(handle, 0, size), standing }
  } finally {
    handle.close()
  }
}

function missingMessage (mode: WriteMode): string {
  return makesFiles(mode)
    ? 'file not found (set create_if_missing=true to create)'
    : `mode '${mode}' requires an existing file (read it first with data.file_read)`
}

function checkExpected (expected: unknown, actual: string | null): void {
  const wanted = textArgument(expected).toLowerCase()
  if (wanted !== '' && wanted !== actual) throw new BuiltinFailure(`sha256 mismatch: expected ${wanted}, got ${actual ?? 'no file'}`)
}

function sha256 (content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
