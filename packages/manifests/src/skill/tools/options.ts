export interface SkillOptions {
  /** Whether files of a skill's `scripts/` may run: by resolvers, and by `skill_run`. */
  allowScripts: boolean
  /** Programs that `skill_run` may run beside scripts, by their names on the PATH. */
  programs: readonly string[]
  /** Whether `skill_run` takes shell command lines. */
  shell: boolean
  /** `readOnDemand`: models read a skill's text with the tool `read_skill` when they need it. */
  contextMode: 'full' | 'readOnDemand'
  /** Names of the skills that are loaded, or all. */
  enabled: readonly string[] | 'all'
  /** Names of the skills that are not loaded, whatever `enabled` says. */
  disabled: readonly string[]
  /** Where programs are looked for, as in the variable PATH. */
  path: string
}

/** All skills, their text in full, no scripts or shell, and no programs to be found. */
export const defaultSkillOptions: SkillOptions = { allowScripts: false, programs: [], shell: false, contextMode: 'full', enabled: 'all', disabled: [], path: '' }
