import { asError } from '@toolyard/contract'
import { isSkillName, type Skill } from '@toolyard/manifests'
import type { Resource } from '@modelcontextprotocol/server'
import type { FastifyBaseLogger } from 'fastify'
import { basename, dirname } from 'node:path'
import { readSkillFile, skillChildren, skillFiles, typeOfName } from '@toolyard/workspace'
import { pageOf } from '../../catalog/page.ts'
import { directoryType, requireResourceSize } from './contents.ts'

export const skillScheme = 'skill://'
const document = 'SKILL.md'
/** Skills in a page of the list, for which all of their files are read. */
const pageSkills = 100

/** A skill as the Skills extension (SEP-2640) has it: where it begins, what it says of itself, and all of its files. */
export interface SkillEntry {
  uri: string
  frontmatter: Readonly<Record<string, unknown>>
  resources: Array<{ uri: string, digest: string, size: number }>
}

export class SkillResources {
  readonly #skills: readonly Skill[]
  readonly #log: FastifyBaseLogger
  /** Skills that were told to be unfit, so that each is told once. */
  readonly #told: WeakSet<Skill>

  constructor (skills: readonly Skill[], log: FastifyBaseLogger, told: WeakSet<Skill>) {
    this.#skills = skills
    this.#log = log
    this.#told = told
  }

  /**
   * A page of the skills that have a name and a description as the specification wants them, in order.
   *
   * @throws HttpError `VALIDATION_ERROR` for a cursor that is none.
   */
  async entries (cursor: string | undefined): Promise<{ skills: SkillEntry[], nextCursor?: string }> {
    const { page, ...rest } = pageOf(this.#published(), { cursor, size: pageSkills, nameOf: ({ name }) => name })
    const skills: SkillEntry[] = []
    for (const skill of page) {
      const entry = await this.#entry(skill)
      if (entry !== undefined) skills.push(entry)
    }
    return { skills, ...rest }
  }

  /** The skill whose SKILL.md a URI names. */
  async entry (uri: string): Promise<SkillEntry | undefined> {
    const skill = this.#published().find(skill => uriOf(skill) === uri)
    return skill === undefined ? undefined : await this.#entry(skill)
  }

  documents (): Resource[] {
    return this.#published().map(skill => ({ uri: uriOf(skill), name: skill.name, description: skill.description, mimeType: 'text/markdown' }))
  }

  async read (uri: string): Promise<Buffer | undefined> {
    const place = this.#place(uri)
    return place === undefined ? undefined : await readSkillFile(place.directory, place.path, bytes => { requireResourceSize(bytes, 'Split the file of the skill') })
  }

  /** Undefined for what is no directory of a skill. */
  async children (uri: string): Promise<Resource[] | undefined> {
    const place = this.#place(uri)
    const children = place === undefined ? undefined : await skillChildren(place.directory, place.path)
    return children?.map(({ name, isDirectory }): Resource => {
      const mimeType = isDirectory ? directoryType : typeOfName(name)
      return { uri: `${uri.replace(/\/$/, '')}/${encodeURIComponent(name)}`, name, ...mimeType !== undefined && { mimeType } }
    })
  }

  /** The skill that a URI leads into, and where in it. */
  #place (uri: string): { directory: string, path: string } | undefined {
    if (!uri.startsWith(skillScheme)) return undefined
    const [name, ...parts] = uri.slice(skillScheme.length).replace(/\/$/, '').split('/')
    const skill = this.#published().find(skill => skill.name === name)
    try {
      if (skill === undefined) return undefined
      const path = parts.map(decodeURIComponent).join('/')
      // Its file may be named in lower case.
      return { directory: dirname(skill.file), path: path === document ? basename(skill.file) : path }
    } catch {
      return undefined
    }
  }

  #published (): Skill[] {
    return this.#skills.filter(skill => {
      const isFit = skill.frontMatter['name'] === skill.name && isSkillName(skill.name) && skill.description !== ''
      if (!isFit) this.#tell(skill, 'its SKILL.md must have a description, and a name of lower case letters, digits and single hyphens')
      return isFit
    })
  }

  async #entry (skill: Skill): Promise<SkillEntry | undefined> {
    try {
      const root = `${skillScheme}${skill.name}/`
      const files = await skillFiles(dirname(skill.file))
      const resources = files.map(({ path, digest, size }) => ({ uri: root + path.split('/').map(encodeURIComponent).join('/'), digest: `sha256:${digest}`, size }))
      return { uri: uriOf(skill), frontmatter: skill.frontMatter, resources }
    } catch (error) {
      this.#tell(skill, asError(error).message)
      return undefined
    }
  }

  #tell (skill: Skill, why: string): void {
    if (this.#told.has(skill)) return
    this.#told.add(skill)
    this.#log.warn({ skill: skill.name, file: skill.file }, `mcp: the skill of ${skill.file} is not served as files: ${why}`)
  }
}

function uriOf ({ name }: Skill): string {
  return `${skillScheme}${name}/${document}`
}
