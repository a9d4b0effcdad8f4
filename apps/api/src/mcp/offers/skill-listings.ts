import { asError } from '@toolyard/contract'
import type { Skill } from '@toolyard/manifests'
import { digestedSkillFiles, type DigestedFile } from '@toolyard/workspace'
import type { FastifyBaseLogger } from 'fastify'
import { dirname } from 'node:path'

/** What is known of one skill. */
interface Listing {
  /** By their paths. */
  files: Map<string, DigestedFile>
  reading: Promise<readonly DigestedFile[]> | undefined
}

/**
 * The files of skills with their digests. A file is read when it has changed since it was read last, and requests that come at once share
 * one look: to read all files of a hundred skills takes seconds.
 */
export class SkillListings {
  readonly #log: FastifyBaseLogger
  readonly #listings = new WeakMap<Skill, Listing>()
  /** Skills that were told to be unfit, so that each is told once. */
  readonly #told = new WeakSet<Skill>()

  constructor (log: FastifyBaseLogger) {
    this.#log = log
  }

  /** Undefined for a skill that can't be published: the log says why. */
  async filesOf (skill: Skill): Promise<readonly DigestedFile[] | undefined> {
    const listing = this.#listings.get(skill) ?? { files: new Map(), reading: undefined }
    this.#listings.set(skill, listing)
    listing.reading ??= digestedSkillFiles(dirname(skill.file), listing.files).finally(() => { listing.reading = undefined })
    try {
      return await listing.reading
    } catch (error) {
      this.tellUnfit(skill, asError(error).message)
      return undefined
    }
  }

  tellUnfit (skill: Skill, why: string): void {
    if (this.#told.has(skill)) return
    this.#told.add(skill)
    this.#log.warn({ skill: skill.name, file: skill.file }, `mcp: the skill of ${skill.file} is not served as files: ${why}`)
  }
}
