import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { mkdtemp, open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that must be what a manifest pinned. */
export interface Pin {
  /** Absolute path. */
  file: string
  /** Lower case hex. */
  sha256: string
}

export interface Pinned {
  /** A private copy of what was checked, for what can run that in the file's place. */
  copy: string
  isUnchanged: () => Promise<boolean>
}

export interface Pins {
  /** Undefined for a file that isn't what was pinned, or can't be read. */
  check (pin: Pin): Promise<Pinned | undefined>
  close (): Promise<void>
}

const chunkBytes = 65_536
const maxRemembered = 1_000

/**
 * One open descriptor is hashed, and a copy of it is kept that nobody else can write to: a box shows
 * the copy in the program's place, so that a swap between check and start changes nothing. A file is read again when
 * its device, inode, times or size changed.
 */
export function createPins (): Pins {
  let directory: Promise<string> | undefined
  const digests = new Map<string, string>()
  const kept = new Map<string, Promise<void>>()

  /** If it can't be made, the next check tries again. */
  async function ownDirectory (): Promise<string> {
    directory ??= mkdtemp(join(tmpdir(), 'toolyard-pinned-'))
    try {
      return await directory
    } catch (error) {
      directory = undefined
      throw error
    }
  }

  async function digestOf (handle: FileHandle, identity: string): Promise<string> {
    const known = digests.get(identity)
    if (known !== undefined) return known
    const hash = createHash('sha256')
    for await (const chunk of chunksOf(handle)) hash.update(chunk)
    const digest = hash.digest('hex')
    if (digests.size >= maxRemembered) digests.clear()
    // The digest is remembered only if the file did not change while it was read.
    if (identityOf(await handle.stat({ bigint: true })) === identity) digests.set(identity, digest)
    return digest
  }

  /** A copy is hashed once more on its way: the file may change at any time. */
  async function keep (handle: FileHandle, sha256: string, copy: string): Promise<void> {
    const part = `${copy}.part`
    const target = await open(part, 'w', 0o500)
    const hash = createHash('sha256')
    try {
      for await (const chunk of chunksOf(handle)) {
        hash.update(chunk)
        await target.write(chunk)
      }
    } finally {
      await target.close()
    }
    if (hash.digest('hex') !== sha256) throw new Error('changed while it was read')
    await rename(part, copy)
  }

  async function check ({ file, sha256 }: Pin): Promise<Pinned | undefined> {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const found = await handle.stat({ bigint: true })
      const identity = identityOf(found)
      if (!found.isFile() || await digestOf(handle, identity) !== sha256) return undefined
      const copy = join(await ownDirectory(), sha256)
      const keeping = kept.get(sha256) ?? keep(handle, sha256, copy)
      kept.set(sha256, keeping)
      await keeping.catch((error: unknown) => {
        kept.delete(sha256)
        throw error
      })
      return { copy, isUnchanged: async () => identityOf(await stat(file, { bigint: true })) === identity }
    } finally {
      await handle.close()
    }
  }

  return {
    check: async pin => await check(pin).catch(() => undefined),
    async close () {
      if (directory !== undefined) await rm(await directory, { recursive: true, force: true })
    }
  }
}

async function * chunksOf (handle: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ;) {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** As long as it is the same, the file wasn't written to or replaced. */
export function identityOf ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}
