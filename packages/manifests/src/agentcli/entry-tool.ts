import { dirname } from 'node:path'
import { isRecord, limits } from '@toolyard/contract/terms'
import { ManifestFault } from '../finding/finding.ts'
import { goQuote } from '../finding/go-quote.ts'
import { jobTypeOf } from '../tool/job-type.ts'
import type { LayerEntry } from '../layer/layer.ts'
import { readSecrets } from '../program/secrets.ts'
import { readNetwork, type NetworkReading } from '../program/network.ts'
import { sortPermissions } from '../tool/permissions.ts'
import { digestPattern } from '../program/pin.ts'
import type { CommandRun, JsonSchema } from '../tool/tool.ts'
import { attempt, type AgentcliEntry } from './entry.ts'
import { envNames } from './env-names.ts'
import { programPath } from './program-path.ts'

const digestShape = new RegExp(digestPattern)

export interface EntryReading {
  /** Absent when it has a fault. */
  entry?: LayerEntry
  /** Any of them ends the loading of the manifest, in this order. */
  faults: ManifestFault[]
}

/**
 * Checks one entry: name, duplicate, command, environment, program path, digest. Its schema isn't judged here.
 *
 * @param names those of the entries before it.
 */
export function readEntry (
  entry: AgentcliEntry, index: number, { file, names }: { file: string, names: ReadonlySet<string> }
): EntryReading {
  if (entry.name === '') return { faults: [new ManifestFault('A31', `tool[${index}]: name is required`, { index, fix: 'Give the tool a name.' })] }
  const faults: ManifestFault[] = []
  if (names.has(entry.name)) faults.push(new ManifestFault('A32', 'duplicate name', { fix: 'Rename or remove one of the two.' }))
  const enabled = entry.disabled !== true && entry.enabled !== false
  const switches = entry.command === undefined && (entry.enabled ?? entry.disabled) !== undefined
  const run = switches ? undefined : runOf(entry, file, faults)
  if (faults.length > 0 || (run === undefined && !switches)) return { faults: faults.map(fault => located(fault, index, entry.name)) }
  const network = networkOf(entry, index)
  if (run === undefined) return { entry: { kind: 'switch', name: entry.name, enabled, file, index }, faults }
  return {
    entry: {
      kind: 'tool',
      tool: {
        name: entry.name,
        description: entry.description,
        parameters: parameters(entry.schema),
        jobType: jobTypeOf('agentcli', entry.name),
        ...entry.timeoutSec > 0 && { timeoutSec: Math.min(entry.timeoutSec, limits.toolTimeoutSec.max) },
        enabled,
        idempotent: entry.idempotent,
        ...entry.asks && { asks: true },
        ...entry.limits !== undefined && { limits: entry.limits },
        ...entry.warm !== undefined && entry.warm !== 0 && { warm: entry.warm },
        ...network.held,
        ...readSecrets(entry.secrets, network.held.network, []).held,
        ...entry.policy.length > 0 && { policy: entry.policy },
        source: { format: 'agentcli', file, index },
        run
      },
      override: entry.override
    },
    faults
  }
}

/** Permissions, the hosts that it may reach, and Unix sockets. */
export function networkOf ({ network, permissions, unixSockets }: AgentcliEntry, index: number): NetworkReading {
  return readNetwork(network, permissions === undefined ? undefined : sortPermissions(permissions).permissions, ['tools', index], unixSockets)
}

/** Puts the place in front of a fault's text. */
export function located ({ rule, message, place }: ManifestFault, index: number, tool: string): ManifestFault {
  return new ManifestFault(rule, `tool[${index}] ${goQuote(tool)}: ${message}`, { ...place, index, tool })
}

function runOf ({ command, envPassthrough, sha256 }: AgentcliEntry, file: string, faults: ManifestFault[]): CommandRun | undefined {
  const [program, ...args] = command ?? []
  if (program === undefined) faults.push(new ManifestFault('A33', 'command must have at least program name', { fix: 'Write "command": ["./tools/bin/NAME"].' }))
  const names = envNames(envPassthrough, faults)
  const path = program === undefined ? undefined : attempt(() => programPath(program, dirname(file)), faults)
  if (sha256 !== undefined && !digestShape.test(sha256)) {
    faults.push(new ManifestFault('fault 48', 'sha256 must be 64 hexadecimal digits', { fix: 'Write what sha256sum prints for the program.' }))
  }
  return path === undefined ? undefined : { kind: 'command', program: path, ...program !== undefined && program !== path && { name: program }, args, envPassthrough: names, ...sha256 !== undefined && { sha256: sha256.toLowerCase() } }
}

/**
 * Models expect parameters always; none means that the tool takes no particular
 * arguments. What is no object is judged with the schemas.
 */
function parameters (schema: unknown): JsonSchema {
  return isRecord(schema) ? schema : { type: 'object', properties: {} }
}
