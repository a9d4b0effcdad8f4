import type { Finding } from '../finding/finding.ts'
import { isInstalled } from '../program/installed.ts'
import type { FrontMatter } from './text/front-matter.ts'

/** What this machine lacks of the programs that a skill needs, and which of its alternatives is there. */
export interface ProgramState {
  missing: string[]
  /** Place of the first list all of whose programs are there; absent where the skill names no alternatives. */
  group?: number
}

/** All programs that a skill names, whatever it needs of them. */
export function programsOf ({ metadata }: FrontMatter): string[] {
  return (metadata?.requires?.bins ?? []).flat()
}

/** Looks for the programs: for all of a plain list, for those of one list of several. */
export async function missingPrograms (
  { metadata }: FrontMatter, { directory, path }: { directory: string, path: string }
): Promise<ProgramState> {
  const bins = metadata?.requires?.bins ?? []
  const lacking = async (names: readonly string[]): Promise<string[]> => {
    const there = await Promise.all(names.map(async name => await isInstalled(name, directory, path)))
    return names.filter((_, at) => there[at] === false)
  }
  const groups = bins.flatMap(each => typeof each === 'string' ? [] : [each])
  if (groups.length === 0) return { missing: await lacking(bins.flatMap(each => typeof each === 'string' ? [each] : [])) }
  for (const [group, names] of groups.entries()) if ((await lacking(names)).length === 0) return { missing: [], group }
  return { missing: [groups.map(names => names.join(' and ')).join(', or ')] }
}

/** A warning while the service runs, since a program may come; an error to a validation, since nothing of the skill is served. */
export function skipped (name: string, missing: readonly string[], file: string): Finding {
  const message = `skill ${JSON.stringify(name)} is skipped: it needs ${missing.join(', ')}`
  const fix = missing.some(program => /^\S*[|,]\S*$/.test(program))
    ? 'Name each program by itself, and alternatives as lists: [[A], [B]].'
    : 'Install what is missing, or add its directory to PATH.'
  return { severity: 'warning', nonconforming: true, file, rule: 'SC22', path: ['metadata', 'requires', 'bins'], message, fix }
}
