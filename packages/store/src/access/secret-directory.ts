import { constants, type Stats } from 'node:fs'
import { open, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { asError, errorCode, isSecretName } from '@toolyard/contract/terms'
import { openVault, type VaultOptions } from './secret-vault.ts'
import type { StoredSecrets } from './stored-secrets.ts'

/*
 * Secrets of the operator in a directory of files, as Kubernetes and Docker mount them: a file's name is that of its secret. They
 * are read for each call, so that one that is gone isn't used any more.
 */

/** As much as the API stores. */
const maxBytes = 65_536

/** Where the operator has secrets beside those that are stored. */
interface SecretPlaces {
  directory: string | undefined
  vault: VaultOptions | undefined
}

/** Why a secret can't be used, or the stores not asked: nothing of a value. `from`: the setting that it is about. */
type SecretFault = (fault: { secret?: string, from: 'SECRETS_DIR' | 'SECRETS_VAULT_URL', reason: string }) => void

/**
 * The values of a call's secrets, undefined for one that no key opens; a fault where a store could not be asked, which is not to
 * say that one is missing.
 */
type Opened = ReadonlyMap<string, string | undefined> | { fault: string }

export interface SecretSource {
  open (...call: Parameters<StoredSecrets['open']>): Promise<Opened>
}

/** Where the values of secrets come from: what is stored, then the directory, then Vault; undefined where there is none. */
export function openSecretSource (
  stored: StoredSecrets | undefined, { directory, vault: at }: SecretPlaces, onFault: SecretFault
): SecretSource | undefined {
  const vault = at === undefined ? undefined : openVault(at, reason => { onFault({ from: 'SECRETS_VAULT_URL', reason }) })
  if (directory === undefined && vault === undefined) return stored
  return {
    async open (names, call) {
      const values = await stored?.open(names, call) ?? new Map<string, string | undefined>()
      let fault: string | undefined
      await Promise.all(names.filter(name => !values.has(name)).map(async name => {
        try {
          const value = await readFileSecret(directory, name, onFault) ?? (name.startsWith('.') ? undefined : await vault?.read(name))
          if (value !== undefined) values.set(name, value)
        } catch (error) {
          onFault({ secret: name, from: 'SECRETS_VAULT_URL', reason: asError(error).message })
          fault = `the secret ${name} could not be read from the operator's Vault; the log of the worker says why`
        }
      }))
      return fault === undefined ? values : { fault }
    }
  }
}

/** The value, without the line break at its end; undefined where there is none. */
async function readFileSecret (directory: string | undefined, name: string, onFault: SecretFault): Promise<string | undefined> {
  // Kubernetes has directories of its own there, which begin with two dots.
  if (directory === undefined || !isSecretName(name) || name.startsWith('.')) return undefined
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
    onFault({ secret: name, from: 'SECRETS_DIR', reason: errorCode(error) ?? asError(error).message })
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
