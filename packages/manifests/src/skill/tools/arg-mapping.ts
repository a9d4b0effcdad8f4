import type { SkillArg, SkillResolver } from '../../tool/skill-run.ts'
import type { ArgMapping, ResolveCommand } from './tools-file.ts'

/** One entry of `args` with its defaults: kind positional, the flag named like the parameter. */
export function skillArg (mapping: ArgMapping): SkillArg {
  const { param, kind = 'positional' } = mapping
  if (kind === 'flagifboolean') {
    const { flagIfTrue, flagIfFalse } = mapping
    return { kind, param, ...present({ flagIfTrue, flagIfFalse }) }
  }
  const value = {
    param,
    normalizeNewlines: mapping.normalizeNewlines ?? false,
    // A flag takes the element behind it as its value, whatever that starts with.
    allowDash: mapping.allowDash ?? kind === 'flag',
    ...mapping.resolveCommand != null && { resolver: skillResolver(mapping.resolveCommand) }
  }
  return kind === 'flag' ? { kind, ...value, flag: mapping.flag ?? param } : { kind, ...value }
}

function skillResolver ({ script, binary, subcommand, sha256, args = [] }: ResolveCommand): SkillResolver {
  return { ...present({ script, binary, subcommand, sha256: sha256?.toLowerCase() }), args }
}

/** The fields that have a text: for this format, null and absent are the same. */
function present<Key extends string> (fields: Record<Key, string | null | undefined>): Partial<Record<Key, string>> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The names are those of the fields.
  return Object.fromEntries(
    Object.entries<string | null | undefined>(fields).filter(([, text]) => text != null)
  ) as Partial<Record<Key, string>>
}
