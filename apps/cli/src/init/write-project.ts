import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError } from '../terminal/exit-status.ts'
import { makeApiKey } from '../start/api-key.ts'

const templates = fileURLToPath(new URL('../../templates/', import.meta.url))
/** npm leaves out files of this name. */
const ignoreFile = ['gitignore', '.gitignore'] as const

/**
 * Writes the tools, their test and the settings into a directory.
 *
 * @returns what was made, relative to the directory
 * @throws CommandError when something is there already; nothing is written then.
 */
export async function writeProject (directory: string): Promise<string[]> {
  const files = (await readdir(templates, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && entry.name !== ignoreFile[0])
    .map(entry => join(entry.parentPath, entry.name).slice(templates.length)).sort()
  const taken = files.filter(path => existsSync(join(directory, path)))
  if (taken.length > 0) throw new CommandError(`${taken.join(', ')} ${taken.length === 1 ? 'is' : 'are'} here already. Nothing was written: start in a directory of its own.`, { code: 'CONFLICT' })
  for (const path of files) {
    await mkdir(join(directory, path, '..'), { recursive: true })
    await copyFile(join(templates, path), join(directory, path), constants.COPYFILE_EXCL)
    if (path.startsWith('tools/bin/')) await chmod(join(directory, path), 0o755)
  }
  return [...files, ...await writeSettings(directory), ...await writeIgnoreFile(directory)]
}

/** An .env that is there keeps what it says. */
async function writeSettings (directory: string): Promise<string[]> {
  const file = join(directory, '.env')
  const before = existsSync(file) ? await readFile(file, 'utf8') : ''
  const sets = (name: string): boolean => new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=[ \\t]*\\S`, 'm').test(before)
  if (!sets('API_KEY') && !sets('API_KEYS_JSON')) makeApiKey(file)
  const key = /^API_KEY=(.+)$/m.exec(await readFile(file, 'utf8').catch(() => ''))?.[1]
  const wanted = { TOOL_MANIFESTS: 'tools.json', ...(key === undefined ? {} : { TOOLYARD_API_KEY: key }) }
  const lines = Object.entries(wanted).filter(([name]) => !sets(name)).map(([name, value]) => `${name}=${value}\n`)
  const text = await readFile(file, 'utf8').catch(() => '')
  await writeFile(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('')}`, { mode: 0o600 })
  await chmod(file, 0o600)
  return ['.env']
}

async function writeIgnoreFile (directory: string): Promise<string[]> {
  const [from, to] = ignoreFile
  if (existsSync(join(directory, to))) return []
  await cp(join(templates, from), join(directory, to))
  return [to]
}
