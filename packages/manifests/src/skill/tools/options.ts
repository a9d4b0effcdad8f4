export interface SkillOptions {
  /** Whether resolvers may run files of a skill's `scripts/`. */
  allowScripts: boolean
  /** `readOnDemand`: models read a skill's text with the tool `read_skill` when they need it. */
  contextMode: 'full' | 'readOnDemand'
  /** Names of the skills that are loaded, or all. */
  enabled: readonly string[] | 'all'
  /** Names of the skills that are not loaded, whatever `enabled` says. */
  disabled: readonly string[]
  /** Where programs are looked for, as in the variable PATH. */
  path: string
}

/** All skills, their text in full, no scripts, and no programs to be found. */
export const defaultSkillOptions: SkillOptions = { allowScripts: false, contextMode: 'full', enabled: 'all', disabled: [], path: '' }
