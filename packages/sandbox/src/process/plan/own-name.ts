import { basename, dirname, isAbsolute } from 'node:path'
import { isScript } from './program-format.ts'
import type { ProcessPlan } from './plan.ts'

/** Runs a program under another name: its command line, to be followed by both. Undefined where the machine has none. */
export type Renamer = ((program: string, name: string) => string[]) | undefined

/**
 * The words by which a command that looks for programs as execvp(3) does starts a plan's program, so that this is told
 * its name (`argv[0]`) as the plan has it. A name on the PATH is looked for there once more; another one needs a
 * renamer; without it the program gets its path. A script always gets its path, from the kernel.
 */
export function namedProgram (plan: ProcessPlan, renamer: Renamer): string[] {
  const { program, name = program } = plan
  if (name === program) return [program]
  if (isFoundByName(plan, name)) return [name]
  return renamer === undefined || isScript(program) ? [program] : renamer(program, name)
}

/** Whoever made the plan has looked through the directories before. A relative one would mean the workspace. */
function isFoundByName ({ program, env }: ProcessPlan, name: string): boolean {
  const directories = (env['PATH'] ?? '').split(':')
  // For env(1), one with "=" would be a variable; for others, one with "-" an option.
  return /^[^-=/][^=/]*$/.test(name) && name === basename(program) && directories.every(isAbsolute) && directories.includes(dirname(program))
}
