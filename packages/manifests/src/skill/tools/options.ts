import type { ToolSources } from '@toolyard/runtime'

export type SkillOptions = ToolSources['skills']

/** All skills, their text in full, no scripts or shell, and no programs to be found. */
export const defaultSkillOptions: SkillOptions = { allowScripts: false, programs: [], shell: false, contextMode: 'full', enabled: 'all', disabled: [], path: '' }
