import { isSecretName, isSecretVariable } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { isRecord } from '@toolyard/contract/terms'
import { egressBeyond, egressText, readEgressRule } from '@toolyard/runtime/outgoing'
import type { DocumentPath } from '../finding/finding.ts'
import type { Remark } from '../finding/finding-list.ts'
import type { SecretUse, Tool } from '../tool/tool.ts'

const mostSecrets = 32
/** Hosts of one secret. */
const mostHosts = 16
/** Set by others, or read by loaders of code. */
const taken = /^(?:PATH|HOME|LANG|NODE_OPTIONS|LD_\w+)$/i

export const secretsField = Type.Optional(Type.Unsafe<Record<string, { secret: string, as?: SecretUse['as'], hosts?: string[] }>>({
  type: 'object',
  maxProperties: mostSecrets,
  additionalProperties: {
    type: 'object',
    required: ['secret'],
    additionalProperties: false,
    properties: {
      secret: { type: 'string', description: 'Name of a stored secret (toolyard secrets set NAME).' },
      as: {
        type: 'string',
        enum: ['header', 'env', 'file'],
        description: 'header, the default with hosts: the variable has a placeholder, and requests to the hosts carry the value in its place. env: the variable has the value. file: it names a file with the value.'
      },
      hosts: { type: 'array', minItems: 1, maxItems: mostHosts, items: { type: 'string' }, description: 'Hosts of "network" whose requests carry the value in their headers.' }
    }
  },
  description: 'Stored secrets that it uses, by the variables that stand for them (docs/secrets.md).'
}))

const form = 'Write "secrets": {"GITHUB_TOKEN": {"secret": "github", "hosts": ["api.github.com"]}}.'

/** One use of a secret that is wrong: where, what, and the remedy. */
class UseFault extends Error {
  readonly at: DocumentPath
  readonly fix: string

  constructor (at: DocumentPath, message: string, fix = form) {
    super(message)
    this.at = at
    this.fix = fix
  }
}

/** Reads `secrets` of an entry that is a process. `network`: the hosts that it may reach, if it names them. */
export function readSecrets (
  written: unknown, network: readonly string[] | undefined, path: DocumentPath
): { held: Pick<Tool, 'secrets'>, faults: Remark[] } {
  if (written === undefined || written === null) return { held: {}, faults: [] }
  try {
    if (!isRecord(written) || Object.keys(written).length > mostSecrets) throw new UseFault([], `secrets must be an object of at most ${mostSecrets} variables`)
    const uses = Object.entries(written).map(([variable, use]) => [variable, readUse(variable, use, network)] as const)
    return { held: { secrets: Object.fromEntries(uses) }, faults: [] }
  } catch (error) {
    if (!(error instanceof UseFault)) throw error
    const { at, message, fix } = error
    return { held: {}, faults: [{ severity: 'error', rule: 'secrets/use', path: [...path, 'secrets', ...at], message, fix }] }
  }
}

/** @throws UseFault. */
function readUse (variable: string, use: unknown, network: readonly string[] | undefined): SecretUse {
  const place = `secrets.${variable}`
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(variable)) throw new UseFault([variable], `${place} is no name of a variable`)
  if (taken.test(variable) || isSecretVariable(variable)) throw new UseFault([variable], `${place} is a variable that the service sets or keeps`, 'Choose another name.')
  if (!isRecord(use)) throw new UseFault([variable], `${place} names no secret`)
  const { secret, as, hosts, ...rest } = use
  if (!isSecretName(secret)) throw new UseFault([variable], `${place} names no secret`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new UseFault([variable, unknown], `${place}.${unknown.slice(0, 80)} is no known field`, 'Known are secret, as and hosts.')
  const way = as ?? (hosts === undefined ? undefined : 'header')
  if (way === 'header') return { secret, as: way, hosts: readHosts(hosts, network, [variable, 'hosts']) }
  if (way !== 'env' && way !== 'file') throw new UseFault([variable], `${place} must name hosts, whose requests carry it, or say "as": "env" or "file"`)
  if (hosts !== undefined) throw new UseFault([variable, 'hosts'], `${place}.hosts is for "as": "header": with "${way}" the program has the value, and may send it wherever it connects to`, 'Take out "as", or hosts.')
  return { secret, as: way }
}

/** @throws UseFault. */
function readHosts (written: unknown, network: readonly string[] | undefined, at: DocumentPath): string[] {
  const place = `secrets.${at.join('.')}`
  if (!Array.isArray(written) || written.length === 0 || written.length > mostHosts) throw new UseFault(at, `${place} must be a list of 1 to ${mostHosts} hosts`)
  if (network === undefined) throw new UseFault(at, `${place} needs a tool that names the hosts it reaches: "network" is no list`, 'Write "network" with the same hosts, and take network out of permissions.')
  const hosts = (written as unknown[]).map((item, index) => {
    const rule = typeof item === 'string' ? readEgressRule(item.trim()) : undefined
    if (rule === undefined || rule.host === '*') throw new UseFault([...at, index], `${place}[${index}] is no host: ${String(JSON.stringify(item)).slice(0, 80)}`, 'Write a name or an address, as in "network": "api.example.com".')
    const text = egressText(rule)
    if (egressBeyond([text], network).length > 0) throw new UseFault([...at, index], `${place}[${index}] is ${text}, which "network" of the tool does not have`, 'Add it to "network", or take it out here.')
    return text
  })
  return [...new Set(hosts)].sort()
}
