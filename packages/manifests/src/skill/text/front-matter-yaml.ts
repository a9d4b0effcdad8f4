import { parseDocument, CST, Parser } from 'yaml'
import { plainDataFault } from '../../document/yaml-text.ts'
import { manifestLimits } from '../../tool/limits.ts'

interface Nested {
  token: CST.Token
  depth: number
}

/**
 * The value of a YAML text that was written by somebody else.
 *
 * @throws an Error whose first line says what is wrong: it isn't YAML, nests too deeply, has an alias too many, holds itself, or
 * holds what JSON has not.
 */
export function parseForeignYaml (yaml: string): unknown {
  if (yamlDepth(yaml) > manifestLimits.depth) throw new Error(`is nested deeper than ${manifestLimits.depth} levels`)
  const document = parseDocument(yaml, { prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  const value: unknown = document.toJS({ maxAliasCount: manifestLimits.yamlAliases })
  const fault = plainDataFault(value, manifestLimits.frontMatterExpansion)
  if (fault !== undefined) throw new Error(fault)
  return value
}

/**
 * Levels of nesting in a YAML text, which need not be valid. Measured on the parser's tokens, which are made without
 * recursion: making values of them is recursive, and a regular expression that V8 compiles near the end of the stack
 * aborts the process, which no `catch` prevents.
 */
function yamlDepth (text: string): number {
  const open: Nested[] = [...new Parser().parse(text)].map(token => ({ token, depth: 0 }))
  let deepest = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const depth = next.depth + 1
    deepest = Math.max(deepest, next.depth)
    for (const token of innerTokens(next.token)) open.push({ token, depth })
  }
  return deepest
}

function innerTokens (token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value]
  if (!CST.isCollection(token)) return []
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat())
}
