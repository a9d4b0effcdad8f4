import type { Tool } from '../tool/tool.ts'

/** One skill after reading. */
export interface Skill {
  /** From the front matter, else the name of the directory. */
  name: string
  /** Empty when the front matter has none. */
  description: string
  /** All of the front matter, as JSON has it. */
  frontMatter: Readonly<Record<string, unknown>>
  /** What follows the front matter of its SKILL.md. */
  text: string
  /** Absolute path of its SKILL.md. */
  file: string
  /** Empty without a `tools.json`. */
  tools: readonly Tool[]
}
