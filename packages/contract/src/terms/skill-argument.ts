/** What is wrong with the value of a skill's parameter, in the words of its format; undefined when it can be an argument. */
export function skillArgumentFault ({ kind, param }: { kind: 'positional' | 'flag' | 'flagifboolean', param: string }, value: unknown): string | undefined {
  if (kind === 'flagifboolean' || (kind === 'flag' && (value === undefined || value === null))) return undefined
  if (value === undefined) return `missing parameter: ${param}`
  return typeof value === 'object' ? `parameter ${param} must be a string, number, or boolean` : undefined
}
