import { Check } from 'typebox/schema'
import { isSecretVariable, withoutUndefined } from '@toolyard/contract/terms'
import { permissionAliases, unknownFields } from '../../document/unknown-fields.ts'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import { goQuote } from '../../finding/go-quote.ts'
import type { KindPlace, KindReading } from '../../layer/entry-kind.ts'
import { wrongFields, withoutNulls } from '../../layer/kind-fields.ts'
import { limitsOf } from '../../program/limit-fields.ts'
import { readNetwork } from '../../program/network.ts'
import { readSecrets } from '../../program/secrets.ts'
import { sortPermissions } from '../../tool/permissions.ts'
import { SkillEntry } from './definition.ts'

const rule = 'skill/settings'

/** Reads an entry that says what a skill may do. A fault takes away this entry alone, and the skill has what it has without. */
export async function readSkillEntry (written: Record<string, unknown>, { file, index, names }: KindPlace): Promise<KindReading> {
  const entry = withoutNulls(written, 'skill')
  const path: DocumentPath = ['tools', index]
  const name = typeof entry['skill'] === 'string' ? entry['skill'] : ''
  const about = (remark: Remark): Remark => ({ ...remark, index, message: `tool[${index}] ${goQuote(name)}: ${remark.message}` })
  // A field that isn't known may be a bound.
  const faults = [
    ...unknownFields(entry, { path, definition: SkillEntry, all: true, aliases: { ...permissionAliases, timeout: 'timeoutSec' } }).map((fault): Remark => ({ severity: 'error', ...fault })),
    ...wrongFields(SkillEntry, entry, { path, rule, page: 'docs/skills.md' })
  ]
  if (names.has(name)) faults.push({ severity: 'error', rule, path: [...path, 'skill'], message: 'another entry of this manifest is about this skill', fix: 'Make one of the two.' })
  names.add(name)
  if (faults.length > 0 || !isEntry(entry)) return await Promise.resolve({ entries: [], findings: faults.map(about) })
  const { permissions, unknown } = sortPermissions(entry.permissions ?? [])
  const network = readNetwork(entry.network, entry.permissions === undefined ? undefined : permissions, path, entry.unixSockets)
  if (network.faults.length > 0) return { entries: [], findings: network.faults.map(about) }
  const secrets = readSecrets(entry.secrets, network.held.network, path)
  if (secrets.faults.length > 0) return { entries: [], findings: secrets.faults.map(about) }
  const secret = entry.envPassthrough?.filter(isSecretVariable) ?? []
  const { enabled, timeoutSec, python, programs, overlay } = entry
  return {
    entries: [],
    skillSettings: [{
      skill: name,
      source: { format: 'agentcli', file, index },
      ...network.held,
      ...secrets.held,
      ...entry.limits !== undefined && { limits: limitsOf(entry.limits) },
      ...entry.envPassthrough !== undefined && { envPassthrough: entry.envPassthrough.filter(variable => !isSecretVariable(variable)) },
      ...withoutUndefined({ enabled, timeoutSec, python, programs, overlay })
    }],
    findings: [
      ...unknown.map((each): Remark => ({ severity: 'warning', rule: 'P18', message: `${goQuote(each)} is no known permission and is ignored`, fix: 'Use read_repo, write_files or network.' })),
      ...secret.map((variable): Remark => ({ severity: 'warning', rule: 'X19', message: `envPassthrough: ${variable} is a secret of the service and is not passed`, fix: 'Remove the entry, and give the skill a secret of its own under another name.' }))
    ].map(about)
  }
}

function isEntry (entry: Record<string, unknown>): entry is SkillEntry & Record<string, unknown> {
  return Check(SkillEntry, entry)
}
