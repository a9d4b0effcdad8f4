/** Where rules come from, by how their ids begin. */
const sources: ReadonlyArray<readonly [ids: RegExp, source: string]> = [
  [/^A\d/, 'the document of agentcli\'s tools.json'],
  [/^AC\d/, 'the program that reads agentcli\'s tools.json'],
  [/^P\d/, 'the document of the tool manifest'],
  [/^PC\d/, 'the loader and the validator of the tool manifest'],
  [/^S\d/, 'the document of a skill\'s tools.json'],
  [/^SC\d/, 'the program that runs skills'],
  [/^SN\d/, 'the document and the program of skills with three files'],
  [/^R\d/, 'the document of the Agent Tools API'],
  [/^RC\d/, 'the service that offers the Agent Tools API'],
  [/^X\d/, 'Toolyard, where the four documents differ or are silent'],
  [/^B\d/, 'a fault of one of the four programs'],
  [/^fault /, 'Toolyard\'s list of faults and attacks'],
  [/^[a-z]+\//, 'Toolyard']
]

/** Where a rule comes from: a document, what its program does beside it, or Toolyard. */
export function sourceOf (id: string): string {
  const source = sources.find(([ids]) => ids.test(id))?.[1]
  if (source === undefined) throw new Error(`Rule ${id} has no source: name it in test/repo/rule-ids/sources.ts`)
  return source
}
