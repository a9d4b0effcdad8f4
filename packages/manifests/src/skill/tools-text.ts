import { duplicateKeys } from '../document/duplicate-keys.ts'
import { ManifestFault, type FaultPlace } from '../finding.ts'
import { parseManifest, refuseDeep } from '../manifest-file.ts'
import { shapeFaults } from './shape.ts'
import { ToolsFile } from './tools-file.ts'

/**
 * Reads the text of a skill's `tools.json`.
 *
 * @throws ManifestFault for the first thing that is wrong, a duplicate key among them; nothing of it is used, then
 * (S38, SC1, SC2, X21).
 */
export function parseToolsFile (text: string): ToolsFile {
  const value = parseJson(text)
  const [duplicate] = duplicateKeys(text)
  if (duplicate !== undefined) {
    const { path, line, column } = duplicate
    throw new ManifestFault('SC1', `duplicate field \`${path.at(-1)}\` at line ${line} column ${column}`, { path, line, column, fix: 'Remove one of the two.' })
  }
  const [fault] = shapeFaults(ToolsFile, value)
  if (fault === undefined) return value as ToolsFile
  throw new ManifestFault(fault.path.endsWith('/kind') ? 'SC2' : 'SC1', fault.message, {
    ...faultPlace(fault.path, value),
    fix: fault.keyword === 'additionalProperties' ? 'Remove the field, or correct its name: names are camelCase.' : 'Correct the value.'
  })
}

function parseJson (text: string): unknown {
  try {
    const value = parseManifest(text)
    refuseDeep(value)
    return value
  } catch (error) {
    throw error instanceof ManifestFault ? new ManifestFault('S38', error.message, error.place) : error
  }
}

/** The tool that a fault is about, as far as it can be known. */
function faultPlace (pointer: string, value: unknown): FaultPlace {
  const [, list, at] = pointer.split('/')
  const index = Number(at)
  if ((list !== 'tools' && list !== 'execution') || !Number.isInteger(index)) return {}
  const entry = ((value as Record<string, unknown[]>)[list] ?? [])[index] as Record<string, unknown> | null | undefined
  const tool = entry?.[list === 'tools' ? 'name' : 'tool']
  return { ...list === 'tools' && { index }, ...typeof tool === 'string' && { tool } }
}
