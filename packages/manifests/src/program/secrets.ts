import { isSecretName, isSecretVariable } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { isRecord } from '@toolyard/contract/terms'
import type { DocumentPath } from '../finding/finding.ts'
import type { Remark } from '../finding/finding-list.ts'
import type { Tool } from '../tool/tool.ts'

const mostSecrets = 32
/** What others set, or what loads code into programs. */
const taken = /^(?:PATH|HOME|LANG|NODE_OPTIONS|LD_\w+)$/i

/** `secrets` of an entry. */
export const secretsField = Type.Optional(Type.Unsafe<Record<string, { secret: string, as: 'env' }>>({
  type: 'object',
  maxProperties: mostSecrets,
  additionalProperties: {
    type: 'object',
    required: ['secret', 'as'],
    additionalProperties: false,
    properties: {
      secret: { type: 'string', description: 'Name of a stored secret (toolyard secrets set NAME).' },
      as: { type: 'string', enum: ['env'], description: 'How the processes of a call get it: as an environment variable.' }
    }
  },
  description: 'Stored secrets that it uses, by the variables that hold them (docs/secrets.md).'
}))

/** Reads `secrets` of an entry that is a process. */
export function readSecrets (written: unknown, path: DocumentPath): { held: Pick<Tool, 'secrets'>, faults: Remark[] } {
  if (written === undefined || written === null) return { held: {}, faults: [] }
  const fault = (at: DocumentPath, message: string, fix: string): { held: Pick<Tool, 'secrets'>, faults: Remark[] } =>
    ({ held: {}, faults: [{ severity: 'error', rule: 'secrets/use', path: [...path, 'secrets', ...at], message, fix }] })
  const form = 'Write "secrets": {"GITHUB_TOKEN": {"secret": "github", "as": "env"}}.'
  if (!isRecord(written) || Object.keys(written).length > mostSecrets) return fault([], `secrets must be an object of at most ${mostSecrets} variables`, form)
  for (const [variable, use] of Object.entries(written)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(variable)) return fault([variable], `secrets.${variable} is no name of a variable`, form)
    if (taken.test(variable) || isSecretVariable(variable)) return fault([variable], `secrets.${variable} is a variable that the service sets or keeps`, 'Choose another name.')
    if (!isRecord(use) || !isSecretName(use['secret'])) return fault([variable], `secrets.${variable} names no secret`, form)
    if (use['as'] !== 'env' || Object.keys(use).some(name => name !== 'secret' && name !== 'as')) return fault([variable], `secrets.${variable} must say "as": "env", and nothing else`, form)
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It was checked above.
  return { held: { secrets: written as NonNullable<Tool['secrets']> }, faults: [] }
}
