import { constants, type Stats } from 'node:fs'
import { open, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { errorCode, isSecretName } from '@toolyard/contract/terms'
import type { StoredSecrets } from './stored-secrets.ts'

/*
 * Secrets of the operator in a directory of files, as Kubernetes and Docker mount them: a file's name is that of its secret. They
 * are read for each call, so that one that is gone isn't used any more.
 */

/** As much as the API stores. */
const maxBytes = 65_536

/** Why a file of the directory can't be used: nothing of what is in it. */
export type FileFault = (fault: { secret: string, reason: string }) => void

/** Where the values of secrets come from: what is stored, then the directory; undefined where there is neither. */
export function openSecretSource (
  stored: StoredSecrets | undefined, directory: string | undefined, onFault: FileFault
): Pick<StoredSecrets, 'open'> | undefined {
  if (directory === undefined) return stored
  return {
    async open (names, call) {
      const values = await stored?.open(names, call) ?? new Map<string, string>()
      for (const name of names) {
        const value = values.has(name) ? undefined : await readSecret(directory, name, onFault)
        if (value !== undefined) values.set(name, value)
      }
      return values
    }
  }
}

/** The value, without the line break at its end; undefined where there is none. */
async function readSecret (directory: string, name: string, onFault: FileFault): Promise<string | undefined> {
  // Kubernetes has directories of its own there, which begin with two dots.
  if (!isSecretName(name) || name.startsWith('.')) return undefined
  try {
    const top = await realpath(directory)
    // It mounts files as links, which lead to one place below.
    const path = await realpath(join(top, name))
    if (!path.startsWith(top.endsWith(sep) ? top : top + sep)) throw new Error('it leads out of SECRETS_DIR')
    // A pipe would be waited for.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      return await readText(file, await file.stat())
    } finally {
      await file.close()
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    onFault({ secret: name, reason: errorCode(error) ?? (error instanceof Error ? error.message : 'it failed') })
    return undefined
  }
}

async function readText (file: FileHandle, stats: Stats): Promise<string | undefined> {
  if (!stats.isFile()) throw new Error('it is no file')
  if (stats.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
  // One that grows meanwhile is read up to the bound.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
  const bytes = buffer.subarray(0, bytesRead)
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (!Buffer.from(bytes.toString('utf8')).equals(bytes)) throw new Error('it is no UTF-8')
  return text === '' ? undefined : text
}
