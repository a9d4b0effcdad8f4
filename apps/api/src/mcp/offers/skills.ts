import { isSkillName, type Skill } from '@toolyard/manifests'
import type { Resource } from '@modelcontextprotocol/server'
import { basename, dirname } from 'node:path'
import { readSkillFile, skillChildren, typeOfName } from '@toolyard/workspace'
import { pageOf } from '../../catalog/page.ts'
import type { AnswerRoom } from '../../plugins/load/unsent-answers.ts'
import { directoryType, requireResourceSize } from './contents.ts'
import type { SkillListings } from './skill-listings.ts'

export const skillScheme = 'skill://'
const document = 'SKILL.md'
/** Skills in a page of the list, for which all of their files are looked at. */
const pageSkills = 100

/** A skill as the Skills extension (SEP-2640) has it: where it begins, what it says of itself, and all of its files. */
export interface SkillEntry {
  uri: string
  frontmatter: Readonly<Record<string, unknown>>
  resources: Array<{ uri: string, digest: string, size: number }>
}

export class SkillResources {
  readonly #skills: readonly Skill[]
  readonly #listings: SkillListings
  readonly #room: AnswerRoom

  /** @param room for the files that are read for the answer */
  constructor (skills: readonly Skill[], listings: SkillListings, room: AnswerRoom) {
    this.#skills = skills
    this.#listings = listings
    this.#room = room
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
    if (place === undefined) return undefined
    return await readSkillFile(place.directory, place.path, bytes => {
      requireResourceSize(bytes, 'Split the file of the skill')
      this.#room.take(bytes)
    })
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
      if (!isFit) this.#listings.tellUnfit(skill, 'its SKILL.md must have a description, and a name of lower case letters, digits and single hyphens')
      return isFit
    })
  }

  async #entry (skill: Skill): Promise<SkillEntry | undefined> {
    const files = await this.#listings.filesOf(skill)
    if (files === undefined) return undefined
    const root = `${skillScheme}${skill.name}/`
    const resources = files.map(({ path, digest, size }) => ({ uri: root + path.split('/').map(encodeURIComponent).join('/'), digest: `sha256:${digest}`, size }))
    return { uri: uriOf(skill), frontmatter: skill.frontMatter, resources }
  }
}

function uriOf ({ name }: Skill): string {
  return `${skillScheme}${name}/${document}`
}
