import { lstat, readlink, symlink, unlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { entryPath, type Directory } from './directory.ts'
import { isHolderDead, newHolder } from './lock-holder.ts'
import { lockName } from './own-names.ts'

/**
 * The states of a lock, which is a symbolic link beside the entry: absent (free), or present (held), its text naming
 * the holder. Making a link is atomic, fails when there is one, and brings its text with it, also over NFS. Only the
 * holder removes it, or, when that is dead, whoever holds the lock of the lock: its name has the dead holder's in it, so
 * two that find it dead never remove a lock that a third one took meanwhile.
 */
const retryMs = { first: 2, max: 50 }

/**
 * Runs `work` while no other writer, of any process, holds the lock of `name` in the same directory.
 *
 * @throws the signal's reason when it aborts before the lock is free.
 */
export async function withLock<T> (directory: Directory, name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const lock = lockName(name)
  const holder = await take(directory, lock, signal)
  try {
    return await work()
  } finally {
    await giveBack(directory, lock, holder)
  }
}

/** Returns the holder that the lock names now. */
async function take (directory: Directory, lock: string, signal: AbortSignal): Promise<string> {
  const holder = await newHolder()
  for (let waitMs = retryMs.first; ; waitMs = Math.min(waitMs * 2, retryMs.max)) {
    signal.throwIfAborted()
    try {
      await symlink(holder, entryPath(directory, lock))
      return holder
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const dead = await deadHolder(directory, lock)
    if (dead === undefined) await delay(waitMs * (0.5 + Math.random()), undefined, { signal })
    else await withLock(directory, `${lock} ${dead}`, signal, () => removeDead(directory, lock, dead))
  }
}

/** Whoever was away for so long that it counted as dead has lost the lock to another one. */
async function giveBack (directory: Directory, lock: string, holder: string): Promise<void> {
  const path = entryPath(directory, lock)
  if (await readlink(path).catch(() => undefined) === holder) await unlink(path)
}

async function removeDead (directory: Directory, lock: string, dead: string): Promise<void> {
  if (await deadHolder(directory, lock) === dead) await unlink(entryPath(directory, lock))
}

/** The holder of the lock, when it has died. */
async function deadHolder (directory: Directory, lock: string): Promise<string | undefined> {
  try {
    const path = entryPath(directory, lock)
    const [holder, { mtimeMs }] = [await readlink(path), await lstat(path)]
    return await isHolderDead(holder, mtimeMs) ? holder : undefined
  } catch (error) {
    // It was given back meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
