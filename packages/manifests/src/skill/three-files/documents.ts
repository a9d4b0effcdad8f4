import { isRecord } from '@toolyard/contract/terms'
import { Check } from 'typebox/schema'
import { duplicateKeys } from '../../document/duplicate-keys.ts'
import { parseManifest, refuseDeep } from '../../document/manifest-file.ts'
import { ManifestFault } from '../../finding/finding.ts'
import { readSkillText } from '../text/skill-text.ts'
import { Subcommands } from './definitions.ts'

/** The three files as they are written: what is in the lists is not looked at yet. */
export interface Documents {
  tools: readonly unknown[]
  execution: readonly unknown[]
  /** Entries that are lists of texts. */
  allowlist: Readonly<Record<string, readonly string[]>>
  /** Programs whose entries are something else: nobody knows what they allow. */
  unread: ReadonlySet<string>
}

interface DocumentFault {
  name: string
  fault: ManifestFault
}

/** Reads the three files; one that is missing or broken leaves nothing of the skill. */
export async function readDocuments (directory: string, toolsText: string): Promise<Documents | DocumentFault[]> {
  const faults: DocumentFault[] = []
  const read = async (name: string, text: string | undefined): Promise<unknown> => {
    try {
      if (text === undefined) throw new ManifestFault('SN2', `tools.json is a list, so the skill needs ${name} as well`, { fix: `Add ${name}, or make tools.json an object with tools, allowlist and execution.` })
      const value = await parseManifest(text)
      refuseDeep(value)
      for (const { path, line, column } of await duplicateKeys(text)) {
        faults.push({ name, fault: new ManifestFault('SN2', `duplicate field \`${path.at(-1)}\` at line ${line} column ${column}`, { path, line, column, fix: 'Remove one of the two.' }) })
      }
      return value
    } catch (error) {
      if (!(error instanceof ManifestFault)) throw error
      faults.push({ name, fault: new ManifestFault('SN2', error.message, error.place) })
      return undefined
    }
  }
  const tools = await read('tools.json', toolsText)
  const allowlist = await read('allowlist.json', await readSkillText(directory, 'allowlist.json'))
  const execution = await read('execution.json', await readSkillText(directory, 'execution.json'))
  if (tools !== undefined && !Array.isArray(tools)) faults.push(wrong('tools.json', 'a list of tools'))
  if (allowlist !== undefined && !isRecord(allowlist)) faults.push(wrong('allowlist.json', 'an object of lists of subcommands'))
  if (execution !== undefined && !Array.isArray(execution)) faults.push(wrong('execution.json', 'a list of executions'))
  if (faults.length > 0 || !Array.isArray(tools) || !Array.isArray(execution) || !isRecord(allowlist)) return faults
  const entries = Object.entries(allowlist)
  const isRead = (value: unknown): value is string[] => Check(Subcommands, value)
  return {
    tools,
    execution,
    allowlist: Object.fromEntries(entries.flatMap(([name, value]) => isRead(value) ? [[name, value]] : [])),
    unread: new Set(entries.flatMap(([name, value]) => isRead(value) ? [] : [name]))
  }
}

function wrong (name: string, what: string): DocumentFault {
  return { name, fault: new ManifestFault('SN2', `${name} must be ${what}`, { path: [], fix: 'Correct the file.' }) }
}
