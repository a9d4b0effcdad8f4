import { parseDocument } from 'yaml'
import { manifestLimits } from '../../tool/limits.ts'
import { yamlDepth } from './yaml-depth.ts'

/**
 * The value of a YAML text that was written by somebody else.
 *
 * @throws an Error whose first line says what is wrong: it isn't YAML, nests too deeply, or has an alias too many.
 */
export function parseForeignYaml (yaml: string): unknown {
  if (yamlDepth(yaml) > manifestLimits.depth) throw new Error(`is nested deeper than ${manifestLimits.depth} levels`)
  const document = parseDocument(yaml, { prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS({ maxAliasCount: manifestLimits.yamlAliases })
}
