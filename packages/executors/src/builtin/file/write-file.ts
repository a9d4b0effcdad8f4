import { atPlace, checkTexts, hasSpecialBits, lookAgain, openFile, readFully, replaceFile, type FileStanding, type Place, type PlaceOptions, type WriteTurns } from '@toolyard/workspace'
import { movable, steadyMs, type Threads } from '@toolyard/runtime/threads'
import { textArgument } from '../kit/arguments.ts'
import { BuiltinFailure, ownerOfBuiltin, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { applyChange, isShort, type ChangeAnswer, type ChangeTask } from './change-task.ts'
import { fileBytes, makesFiles, readChange, type Change, type WriteMode } from './change.ts'

/** Absent, or the file's content and standing. */
interface Before {
  content: Buffer | undefined
  standing: FileStanding | undefined
}

/**
 * Makes `data.write_file`: changes a file of the workspace as `mode` says, or makes it with `create_if_missing`. Readers
 * see the old or the new content, never a mixture; writers of one file, in whatever process, take turns, and permissions
 * stay, but for setuid, setgid and sticky bits. `expected_sha256` refuses to change what isn't as the caller knows it, `dry_run`
 * changes nothing and returns the `diff`. Returns `{ok, path, mode, dry_run, changed, created, bytes_before, bytes_after,
 * sha256_before, sha256_after, preview_before, preview_after}`; sizes in bytes, no `sha256_before` is null.
 */
export function createWriteFile (host: WriteHost): BuiltinHandler {
  return async (args, context) => await writeFile(args, context, host)
}

interface WriteHost {
  threads: Threads
  turns: WriteTurns
}

async function writeFile (
  args: Readonly<Record<string, unknown>>, context: BuiltinContext, { threads, turns }: WriteHost
): Promise<unknown> {
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
  return await atPlace(context, path, options, async place => {
    const call: WriteCall = { change, args, context, threads }
    if (dryRun) return await write(place, call, () => {})
    return await turns.run({ directory: place.directory, name: place.name, signal: context.signal }, check => write(place, call, check))
  })
}

interface WriteCall {
  change: Change
  args: Readonly<Record<string, unknown>>
  context: BuiltinContext
  threads: Threads
}

/** @param check throws when the file must not be replaced any more */
async function write (place: Place, { change, args, context, threads }: WriteCall, check: () => void): Promise<unknown> {
  const before = await readBefore(place, change, mayMake(args, change))
  const { after, changed, facts } = await workOut({ before: before.content, args, path: place.relative }, context, threads)
  const dryRun = args['dry_run'] === true
  context.signal.throwIfAborted()
  if ((changed || hasSpecialBits(before.standing)) && !dryRun) await replaceFile(place, after, { standing: before.standing, check })
  return { ok: true, path: place.relative, mode: change.mode, dry_run: dryRun, ...facts }
}

/** A large file is worked on in a thread, which gets its content and hands back the new one. */
async function workOut (task: ChangeTask, context: BuiltinContext, threads: Threads): Promise<ChangeAnswer> {
  if (isShort(task)) return applyChange(task)
  const move = task.before === undefined ? [] : movable(task.before)
  const { signal, timeoutMs } = context
  return await runInThread(threads, { kind: 'change', task }, { until: steadyMs() + timeoutMs, owner: ownerOfBuiltin(context), signal, move }, {
    time: 'the change takes too long; make it in parts',
    memory: 'the change needs too much memory; make it in parts'
  })
}

function mayMake (args: Readonly<Record<string, unknown>>, change: Change): boolean {
  return makesFiles(change.mode) && args['create_if_missing'] === true
}

/** The content of now: whoever had the lock before may have changed, made or removed the file. */
async function readBefore (place: Place, change: Change, mayMake: boolean): Promise<Before> {
  const now = await lookAgain(place)
  if (now.stats === undefined) {
    if (!mayMake) throw new BuiltinFailure(missingMessage(change.mode))
    checkTexts([place.name])
    return { content: undefined, standing: undefined }
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
