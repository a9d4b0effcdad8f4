import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { FileFault, readFileBytes } from '../../document/manifest-file.ts'
import { ManifestFault } from '../../finding/finding.ts'
import { manifestLimits } from '../../tool/limits.ts'

/**
 * The text of a file of a skill, without a byte order mark dropped; undefined when the skill has no such file.
 *
 * @throws ManifestFault for what is no file, too large, not readable or no UTF-8, and for a link out of the directory.
 */
export async function readSkillText (
  directory: string, name: string, mostBytes: number = manifestLimits.fileBytes
): Promise<string | undefined> {
  const file = join(directory, name)
  try {
    const real = await realpath(file)
    if (!real.startsWith(`${await realpath(directory)}${sep}`)) throw unusable(name, 'is a symbolic link out of the directory of the skill')
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFileBytes(real, mostBytes))
  } catch (error) {
    if (error instanceof ManifestFault) throw error
    if (error instanceof FileFault) throw unusable(name, error.message)
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unusable(name, code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code ?? String(error)})`)
  }
}

function unusable (name: string, why: string): ManifestFault {
  return new ManifestFault('S1', `${name} ${why}`, { fix: `Make ${name} a readable text file in the directory of the skill.` })
}
