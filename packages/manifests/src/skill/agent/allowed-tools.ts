/**
 * The programs that `allowed-tools` of a front matter leaves a skill: `Bash(git:*)` is the program git, `Bash` by itself any.
 * Undefined without the field, and where it leaves any. It bounds what the operator allows, and allows nothing.
 */
export function allowedPrograms (written: unknown): readonly string[] | undefined {
  const entries = Array.isArray(written) ? written.filter(entry => typeof entry === 'string') : typeof written === 'string' ? toolsIn(written) : undefined
  if (entries === undefined) return undefined
  const programs = new Set<string>()
  for (const entry of entries) {
    const [, name = '', pattern] = /^\s*([\w*-]+)(?:\((.*)\))?\s*$/s.exec(entry) ?? []
    if (name === '*') return undefined
    if (!['bash', 'shell', 'skill_run'].includes(name.toLowerCase())) continue
    const [program = ''] = (pattern ?? '*').trim().split(/[\s:]/)
    if (program === '*' || program === '') return undefined
    programs.add(program)
  }
  return [...programs]
}

/** Names stand apart by commas or blanks; what is in parentheses belongs to the name before. */
function toolsIn (text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []
}
