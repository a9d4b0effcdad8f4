import { nearName } from '@toolyard/contract/terms'

const shapesOutput = 'It is of a newer form of this format and only shapes what is shown: take it out when the output of the program will do.'

function protection (instead: string): string {
  return `It protects in a newer form of this format, which is not read, so don't just take it out. ${instead}.`
}

const sandbox = protection('Say in "permissions" of the tool what it may do (none, read_repo, write_files): the sandbox holds it to that, in the workspace alone')
const refusal = protection('Refuse such values with "pattern" or "enum" in the parameters of the tool')

/** Fields of newer forms of the format, and what to do about each. */
const remedies: Readonly<Record<string, string>> = {
  readPath: sandbox,
  writePath: sandbox,
  denyPattern: refusal,
  denyAlwaysResolve: refusal,
  denyResolveCommand: refusal,
  optional: 'It is of a newer form of this format. A flag without a value is left out here anyway: take optional out. A positional value can\'t be left out: make it a flag, or declare a second tool without it.',
  absentDefault: 'It is of a newer form of this format. Write the value as "default" of the property in the parameters of the tool.',
  split: 'It is of a newer form of this format. Here a value is one argument: pass the list through a program of your own.',
  value: 'It is of a newer form of this format. Write fixed arguments into the subcommand, here and in allowlist.',
  subcommandOverride: 'It is of a newer form of this format. Declare a tool for each subcommand.',
  disambiguateAfterSkippedPositionals: 'It is of a newer form of this format, for positional values that may be left out. Declare a tool for each number of them.',
  successExitCodes: 'It is of a newer form of this format. Here 0 alone is success; a call that fails tells what the program printed.',
  postProcess: shapesOutput,
  sideRead: shapesOutput,
  hintConditions: shapesOutput,
  maxOutputLines: shapesOutput,
  truncationHint: shapesOutput
}

const newerKinds = ['stdin', 'workingdir', 'tempfile', 'literal']

/** What to do about a field that the format doesn't have. */
export function unknownFieldFix (name: string, known: readonly string[]): string {
  if (Object.hasOwn(remedies, name)) return remedies[name] ?? ''
  const near = nearName(name, known)
  return near === undefined ? 'Remove the field, or correct its name: names are camelCase.' : `Write ${near}.`
}

/** What to do about a kind of argument that the format doesn't have. */
export function unknownKindFix (kind: unknown, known: readonly string[]): string {
  if (typeof kind !== 'string') return 'Leave kind out, or name one.'
  if (newerKinds.includes(kind)) return `${kind} is a kind of a newer form of this format, which is not read. Give the value to a program that takes it as an argument (positional, flag).`
  const near = nearName(kind, known)
  return near === undefined ? `Write one of ${known.join(', ')}.` : `Write ${near}.`
}
