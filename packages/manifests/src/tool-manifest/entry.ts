import { limits, isRecord } from '@toolyard/contract/terms'
import { placeOf } from '../document/place.ts'
import type { DocumentPath } from '../finding/finding.ts'
import { jobTypeOf } from '../tool/job-type.ts'
import type { LayerEntry } from '../layer/layer.ts'
import { readSecrets } from '../program/secrets.ts'
import { readNetwork, type NetworkReading } from '../program/network.ts'
import { sortPermissions } from '../tool/permissions.ts'
import { rulesOf } from '../schema/policy/definition.ts'
import { policyRemarks } from '../schema/policy/read-policy.ts'
import { limitsOfSnake, SnakeLimits } from '../program/limit-fields.ts'
import { boundFaults, fittingDefaults } from '../schema/defaults.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { Tool } from '../tool/tool.ts'
import { ToolDescriptor, ToolSwitch } from './definition.ts'
import { fieldFaults } from './field-faults.ts'
import type { Remark } from '../finding/finding-list.ts'
import { outputsOf, parametersOf } from './parameters.ts'
import { permissionAliases, unknownFields } from '../document/unknown-fields.ts'

/** One entry of `tools` after reading: nothing of it is used when there is an error among its findings. */
export interface EntryReading {
  entry?: LayerEntry
  findings: Remark[]
}

interface EntryPlace {
  file: string
  index: number
  schemas: Schemas
}

/** Names that people write for fields of this format. */
const aliases = { ...permissionAliases, path: 'module', parameters: 'inputs', schema: 'inputs', arguments: 'inputs', class: 'class_name', timeout: 'runtime.timeout_seconds' }
const runtimeAliases = { ...permissionAliases, timeout: 'timeout_seconds', timeout_sec: 'timeout_seconds', serial: 'concurrency: "serial"' }

/** Reads one entry, without looking for its module. All that is wrong is found. */
export async function readEntry (value: unknown, place: EntryPlace): Promise<EntryReading> {
  const { index, file } = place
  const path = ['tools', index]
  if (!isRecord(value)) {
    return { findings: [{ severity: 'error', rule: 'P12', index, path, message: `${placeOf(path)} must be an object`, fix: 'Write an object with name, description and module.' }] }
  }
  const named = { index, ...typeof value['name'] === 'string' && { tool: value['name'] } }
  const switches = !('module' in value) && ('enabled' in value || 'disabled' in value)
  const definition = switches ? ToolSwitch : ToolDescriptor
  const faults: Remark[] = fieldFaults(definition, value, path, 2).map(fault => ({ severity: 'error', ...named, ...fault }))
  const unknown: Remark[] = unknownFields(value, { path, definition: ToolDescriptor, all: true, aliases }).map(fault => ({ severity: 'warning', ...named, ...fault }))
  if (faults.length > 0) return { findings: [...faults, ...unknown] }
  if (switches) {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `fieldFaults` has checked it.
    const { name, enabled, disabled } = value as ToolSwitch
    return { entry: { kind: 'switch', name, enabled: disabled !== true && enabled !== false, file, index }, findings: unknown }
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `fieldFaults` has checked it.
  const descriptor = value as ToolDescriptor
  const own = (await descriptorFindings(descriptor, path, place.schemas)).map((finding): Remark => ({ ...named, ...finding }))
  const findings = [...own, ...unknown]
  if (findings.some(({ severity }) => severity === 'error')) return { findings }
  return { entry: { kind: 'tool', tool: toolOf(descriptor, place), override: descriptor.override ?? false }, findings }
}

/** The tool, with a Python root and a module that are still to be found. */
function toolOf (descriptor: ToolDescriptor, { file, index }: EntryPlace): Tool {
  const { name, description, runtime = {}, inputs = {}, outputs, class_name: className, notes } = descriptor
  const rules = rulesOf(descriptor)
  const network = networkOf(descriptor)
  return {
    name,
    description,
    parameters: parametersOf(inputs),
    jobType: jobTypeOf('pylot', name),
    ...runtime.timeout_seconds !== undefined && { timeoutSec: Math.min(runtime.timeout_seconds, limits.toolTimeoutSec.max) },
    enabled: descriptor.disabled !== true && descriptor.enabled !== false,
    idempotent: descriptor.idempotent ?? false,
    ...descriptor.asks === true && { asks: true },
    serial: runtime.concurrency === 'serial',
    // Without them those of TOOL_DEFAULT_PERMISSIONS; an empty list is none.
    ...network.held,
    ...readSecrets(descriptor.secrets, network.held.network, []).held,
    ...runtime.limits !== undefined && { limits: limitsOfSnake(runtime.limits) },
    ...rules.length > 0 && { policy: rules },
    ...typeof notes === 'string' && { notes },
    source: { format: 'tool-manifest', file, index },
    run: {
      kind: 'python',
      root: '',
      module: descriptor.module,
      ...typeof className === 'string' && { className },
      config: descriptor.config ?? {},
      // The module is still to be found.
      ...descriptor.sha256 !== undefined && { pin: { file: '', sha256: descriptor.sha256.toLowerCase() } },
      ...outputs !== undefined && { outputs: outputsOf(outputs) },
      strictOutputs: descriptor.strict_outputs ?? false
    }
  }
}

function networkOf ({ network, permissions }: ToolDescriptor, path: DocumentPath = []): NetworkReading {
  return readNetwork(network, permissions === undefined ? undefined : sortPermissions(permissions).permissions, path)
}

async function descriptorFindings (descriptor: ToolDescriptor, path: DocumentPath, schemas: Schemas): Promise<Remark[]> {
  const { inputs = {}, outputs = {}, runtime = {}, permissions = [] } = descriptor
  const at = (...steps: Array<string | number>): { path: DocumentPath, place: string } =>
    ({ path: [...path, ...steps], place: placeOf([...path, ...steps]) })
  const remark = (severity: Remark['severity'], rule: string, where: { path: DocumentPath, place: string }, says: string, fix: string): Remark =>
    ({ severity, rule, path: where.path, message: `${where.place} ${says}`, fix })
  const found: Remark[] = []
  for (const [name, schema] of [['inputs', parametersOf(inputs)], ['outputs', { type: 'object', properties: outputsOf(outputs) }]] as const) {
    for (const fault of await schemas.check(schema)) found.push(remark('error', 'X17', at(name), fault.message, fault.fix))
  }
  for (const { message, fix } of boundFaults(parametersOf(inputs))) found.push(remark('warning', 'X17', at('inputs'), message, fix))
  found.push(...await policyRemarks(rulesOf(descriptor), parametersOf(inputs), path))
  for (const place of fittingDefaults(parametersOf(inputs)).unfit) {
    const where = place.length === 1 ? at('inputs', ...place, 'default') : at('inputs', place[0] ?? '')
    const what = place.length === 1 ? 'does not fit the parameter' : `has a default of ${JSON.stringify(place.join('.'))} that does not fit it`
    found.push(remark('warning', 'X17', where, `${what}: it is not filled in`, 'Correct the default, or remove it.'))
  }
  const network = networkOf(descriptor, path)
  found.push(...network.faults, ...readSecrets(descriptor.secrets, network.held.network, path).faults)
  for (const name of sortPermissions(permissions).unknown) {
    found.push(remark('warning', 'P18', at('permissions'), `has ${JSON.stringify(name.slice(0, 80))}, which is no known permission and is ignored`, 'Use read_repo, write_files or network.'))
  }
  const { timeout_seconds: seconds = 1, concurrency = 'serial' } = runtime
  const { max } = limits.toolTimeoutSec
  if (seconds > max) found.push(remark('warning', 'X8', at('runtime', 'timeout_seconds'), `${seconds} is above ${max}; ${max} is used`, `Write at most ${max}.`))
  if (concurrency !== 'serial') {
    found.push(remark('warning', 'X17', at('runtime', 'concurrency'), `${JSON.stringify(concurrency.slice(0, 80))} has no effect: calls run side by side`, 'Write "serial", or leave it out.'))
  }
  const unknown = unknownFields(runtime, { path: [...path, 'runtime'], definition: ToolDescriptor.properties.runtime, all: false, aliases: runtimeAliases })
  const unknownLimits = unknownFields(runtime.limits ?? {}, { path: [...path, 'runtime', 'limits'], definition: SnakeLimits, all: true })
  return [...found, ...[...unknown, ...unknownLimits].map((fault): Remark => ({ severity: 'warning', ...fault }))]
}
