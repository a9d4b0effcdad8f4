import { parseDocument } from 'yaml'
import { plainDataFault } from '../../document/yaml-text.ts'
import { yamlTokens } from '../../document/yaml-tokens.ts'
import { manifestLimits } from '../../tool/limits.ts'

/**
 * The value of a YAML text that was written by somebody else.
 *
 * @throws an Error whose first line says what is wrong: it isn't YAML, nests too deeply, has an alias too many, holds itself, or
 * holds what JSON has not.
 */
export function parseForeignYaml (yaml: string): unknown {
  yamlTokens(yaml)
  const document = parseDocument(yaml, { prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  const value: unknown = document.toJS({ maxAliasCount: manifestLimits.yamlAliases })
  const fault = plainDataFault(value, manifestLimits.frontMatterExpansion)
  if (fault !== undefined) throw new Error(fault)
  return value
}
