import { isUtf8 } from 'node:buffer'
import { isRecord } from '@toolyard/contract/terms'
import type { SkillFilesRun } from '@toolyard/manifests'
import { readSkillFile, skillChildren, skillFiles, skillPath } from '@toolyard/workspace'
import { failure, type Outcome } from '../run/outcome.ts'
import { skillPlace, withPlaceFirst, withPlaces } from '../skill-program/place.ts'
import { noObject, ownValue } from './arguments.ts'

/** Bytes of a file that are handed out, and files that a list has. */
const most = { bytes: 1_048_576, listed: 200 }

/**
 * Hands out the text of the skill that the arguments name, or a file of it. To activate one gives its files and how its
 * programs are run beside the text.
 *
 * @param isBoxed whether its programs see its directory at a place of its own
 */
export async function readSkill (run: SkillFilesRun, args: unknown, isBoxed: boolean): Promise<Outcome> {
  if (!isRecord(args)) return noObject
  const field = run.action === 'activate' ? 'name' : 'skill_name'
  const name = ownValue(args, field)
  if (typeof name !== 'string') return failure('INVALID_ARGUMENTS', `missing ${field}`)
  const text = Object.hasOwn(run.skills, name) ? run.skills[name] : undefined
  if (text === undefined) return failure('INVALID_ARGUMENTS', `unknown skill: ${name}`)
  const directory = run.directories?.[name]
  if (directory === undefined) return { ok: true, output: text }
  if (run.action === 'activate') return { ok: true, output: await activation(run, { name, text, directory }, isBoxed) }
  const path = ownValue(args, 'path')
  if (path === undefined || path === null) return { ok: true, output: text }
  return typeof path === 'string' ? await readFileOf(directory, path, name) : failure('INVALID_ARGUMENTS', 'path must be a text')
}

async function readFileOf (directory: string, written: string, name: string): Promise<Outcome> {
  const place = skillPlace(name)
  const whole = withPlaceFirst(written, { name, place })
  const prefix = [`${place}/`, `${directory}/`].find(each => whole.startsWith(each)) ?? ''
  const path = whole.slice(prefix.length).replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
  const children = path === '.' || path === '' ? await skillChildren(directory, '') : await skillChildren(directory, path)
  if (children !== undefined) return { ok: true, output: children.map(each => `${each.name}${each.isDirectory ? '/' : ''}`).join('\n') }
  try {
    const content = await readSkillFile(directory, path, bytes => {
      if (bytes > most.bytes) throw new TooLarge(`the file has ${bytes} bytes, and ${most.bytes} are read at most: a program of skill_run can read it`)
    })
    if (content === undefined) return failure('TOOL_FAILED', `the skill has no file ${JSON.stringify(written.slice(0, 200))}`)
    if (!isUtf8(content)) return failure('TOOL_FAILED', 'the file is no text: give its path to a program of skill_run')
    return { ok: true, output: content.toString().replace(/^\ufeff/, '') }
  } catch (error) {
    if (error instanceof TooLarge) return failure('TOOL_FAILED', error.message)
    throw error
  }
}

/** LibreOffice restarts then, and the helper that published skills bring takes that for the end. */
const officeStart = 'LibreOffice by itself does not start here: it waits for a Unix socket, which the operator gives a skill by "unixSockets": true. A helper of the skill may do without one. Each run has an empty HOME. LibreOffice makes its settings at its first start there, and may do nothing else: ' +
  'start it with --headless --terminate_after_init before, in the same run.'

class TooLarge extends Error {}

async function activation (
  run: SkillFilesRun, { name, text, directory }: { name: string, text: string, directory: string }, isBoxed: boolean
): Promise<string> {
  const place = isBoxed ? skillPlace(name) : await skillPath(directory, '') ?? directory
  const files = await listing(directory)
  const usesOffice = isBoxed && run.runs === true && run.unixSockets?.includes(name) !== true && /\b(?:soffice|libreoffice)\b/i.test(`${text}\n${files}`)
  return [withPlaces(text.trim(), { name, place }), '', '---', files, howToRun(run, { name, place }), ...usesOffice ? [officeStart] : []].join('\n')
}

async function listing (directory: string): Promise<string> {
  try {
    const files = (await skillFiles(directory)).filter(({ path }) => !/^skill\.md$/i.test(path))
    if (files.length === 0) return 'The skill has no other files.'
    const more = files.length - most.listed
    return [
      'Files of the skill, which read_skill reads by their paths:',
      ...files.slice(0, most.listed).map(({ path, size }) => `- ${path} (${size} bytes)`),
      ...more > 0 ? [`- and ${more} more; read_skill lists a directory by its path`] : []
    ].join('\n')
  } catch {
    return 'The skill has many files; read_skill lists a directory by its path (. is the whole).'
  }
}

function howToRun ({ runs, shell }: SkillFilesRun, { name, place }: { name: string, place: string }): string {
  if (runs !== true) return 'Programs of skills do not run here: the operator switches them on with SKILLS_ALLOW_SCRIPTS=1.'
  const example = JSON.stringify({ skill: name, argv: ['scripts/NAME', 'ARGUMENT'] })
  return `Run its programs with skill_run, such as ${example}${shell === true ? ', or with a shell command line as command, which names files of the skill as "$SKILL_DIR/scripts/NAME"' : ''}. The directory of the skill is ${place}, read-only, and in the variable SKILL_DIR; programs start in the working directory, where your files are. Python scripts there may import modules of the skill.`
}
