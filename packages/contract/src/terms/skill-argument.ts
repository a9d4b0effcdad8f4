/** In the words of the skill's format; undefined when the value can be an argument. */
export function skillArgumentFault ({ kind, param }: { kind: 'positional' | 'flag' | 'flagifboolean', param: string }, value: unknown): string | undefined {
  if (kind === 'flagifboolean' || (kind === 'flag' && (value === undefined || value === null))) return undefined
  if (value === undefined) return `missing parameter: ${param}`
  return typeof value === 'object' ? `parameter ${param} must be a string, number, or boolean` : undefined
}
