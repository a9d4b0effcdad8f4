import { nearName } from '@toolyard/contract/terms'

/** Fields and kinds of the form with three files. */
const ofThreeFiles = new Set([
  'readPath', 'writePath', 'unsafePath', 'denyPattern', 'denyAlwaysResolve', 'denyResolveCommand', 'optional', 'absentDefault', 'split', 'value',
  'subcommandOverride', 'disambiguateAfterSkippedPositionals', 'successExitCodes', 'postProcess', 'sideRead', 'hintConditions', 'maxOutputLines',
  'truncationHint', 'binaryWrapper', 'condition', 'paramCondition', 'stdin', 'workingdir', 'tempfile', 'literal'
])
const fix = 'It is of the form with three files: make tools.json the list of the tools, and put allowlist.json and execution.json beside it (docs/skills.md).'

/** What to do about a field that the format doesn't have. */
export function unknownFieldFix (name: string, known: readonly string[]): string {
  if (ofThreeFiles.has(name)) return fix
  const near = nearName(name, known)
  return near === undefined ? 'Remove the field, or correct its name: names are camelCase.' : `Write ${near}.`
}

/** What to do about a kind of argument that the format doesn't have. */
export function unknownKindFix (kind: unknown, known: readonly string[]): string {
  if (typeof kind !== 'string') return 'Leave kind out, or name one.'
  if (ofThreeFiles.has(kind)) return fix
  const near = nearName(kind, known)
  return near === undefined ? `Write one of ${known.join(', ')}.` : `Write ${near}.`
}
