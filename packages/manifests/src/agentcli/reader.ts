import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isSecretVariable, limits } from '@toolyard/contract/terms'
import { placeOf } from '../document/place.ts'
import { ManifestFault } from '../finding.ts'
import { FindingList, type Remark } from '../finding-list.ts'
import { jobTypeOf } from '../job-type.ts'
import type { Layer, LayerEntry, ManifestText } from '../layer.ts'
import { isSchemaObject } from '../schema/check.ts'
import { sortPermissions } from '../permissions.ts'
import { digestPattern } from '../program/pin.ts'
import type { SchemaCompiler } from '../schema/compiler.ts'
import type { JsonSchema, Tool } from '../tool.ts'
import { decodeEntries, misspeltFields, type AgentcliEntry } from './entry.ts'
import { envNames } from './env-names.ts'
import { goQuote } from '../go-quote.ts'
import { programFindings } from './program-check.ts'
import { programPath } from './program-path.ts'

const digestShape = new RegExp(digestPattern)

/**
 * Reads an agentcli `tools.json` (A1 to A36, AC1 to AC12).
 *
 * The first error is the one that counts (AC2), in this order: types of all fields; per tool name, duplicate, command,
 * environment, program path; per tool schema. A program that is missing is a warning (AC12): the call will say `TOOL_UNAVAILABLE`.
 *
 * @throws ManifestFault when the manifest can't be used; nothing of it is, then.
 */
export async function readAgentcli ({ file, value, schemas, ...text }: ManifestText): Promise<Layer> {
  if (text.byteOrderMark) throw new ManifestFault('AC1', 'parse manifest: begins with a byte order mark', { fix: 'Save it as UTF-8 without one.' })
  const decoded = decodeEntries(value)
  const findings = new FindingList(file)
  findings.add(textFindings(text))
  findings.add(misspeltFields(value).map((fault): Remark => ({ severity: 'warning', ...fault })))
  findings.add(decoded.flatMap(permissionFindings))
  const faults: ManifestFault[] = []
  const names = new Set<string>()
  const entries = decoded.flatMap((entry, index) => {
    const checked = attempt(() => layerEntry(entry, index, { file, names }), faults)
    if (entry.timeoutSec > limits.toolTimeoutSec.max) findings.add([longTimeout(entry, index)])
    names.add(entry.name)
    return checked ?? []
  })
  for (const entry of entries) {
    if (entry.kind !== 'tool') continue
    attempt(() => { checkSchema(entry.tool, schemas) }, faults)
    findings.add(secretFindings(entry.tool))
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await setImmediate()
  }
  const [first, ...others] = faults
  if (first !== undefined) throw new ManifestFault(first.rule, first.message, first.place, others)
  const tools = entries.flatMap(entry => entry.kind === 'tool' ? [entry.tool] : [])
  findings.add(await programFindings(tools, dirname(file)))
  return { entries, findings: findings.all() }
}

function attempt<T> (read: () => T, faults: ManifestFault[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ManifestFault)) throw error
    faults.push(error)
    return undefined
  }
}

/** What Go reads without a word, though it may not be what was meant. */
function textFindings ({ utf8, duplicates }: Pick<ManifestText, 'utf8' | 'duplicates'>): Remark[] {
  const encoding: Remark = {
    severity: 'warning', rule: 'AC1', message: 'is not UTF-8; what is wrong is read as U+FFFD', fix: 'Save it as UTF-8.'
  }
  const doubles = duplicates.map(({ path, line, column }): Remark => ({
    severity: 'warning', rule: 'AC10', path, line, column, message: `${placeOf(path)} stands twice; the last one counts`, fix: 'Remove one of the two.'
  }))
  return [...utf8 ? [] : [encoding], ...doubles]
}

function permissionFindings ({ permissions = [], name }: AgentcliEntry, index: number): Remark[] {
  return sortPermissions(permissions).unknown.map(permission => ({
    severity: 'warning',
    rule: 'P18',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: ${goQuote(permission)} is no known permission and is ignored`,
    fix: 'Use read_repo, write_files or network.'
  }))
}

function secretFindings ({ name, run, source: { index } }: Tool): Remark[] {
  const names = run.kind === 'command' ? run.envPassthrough.filter(isSecretVariable) : []
  return names.map(variable => ({
    severity: 'warning',
    rule: 'X19',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: envPassthrough: ${variable} is a secret of the service and is not passed`,
    fix: 'Remove the entry, and give the tool a secret of its own under another name.'
  }))
}

function layerEntry (entry: AgentcliEntry, index: number, { file, names }: { file: string, names: ReadonlySet<string> }): LayerEntry {
  if (entry.name === '') throw new ManifestFault('A31', `tool[${index}]: name is required`, { index, fix: 'Give the tool a name.' })
  try {
    if (names.has(entry.name)) throw new ManifestFault('A32', 'duplicate name', { fix: 'Rename or remove one of the two.' })
    const enabled = entry.disabled !== true && entry.enabled !== false
    if (entry.command === undefined && (entry.enabled ?? entry.disabled) !== undefined) {
      return { kind: 'switch', name: entry.name, enabled, file, index }
    }
    return { kind: 'tool', tool: { ...toolOf(entry, index, file), enabled }, override: entry.override }
  } catch (error) {
    throw located(error, index, entry.name)
  }
}

function toolOf (entry: AgentcliEntry, index: number, file: string): Tool {
  const [program, ...args] = entry.command ?? []
  if (program === undefined) {
    throw new ManifestFault('A33', 'command must have at least program name', { fix: 'Write "command": ["./tools/bin/NAME"].' })
  }
  const envPassthrough = envNames(entry.envPassthrough)
  const path = programPath(program, dirname(file))
  return {
    name: entry.name,
    description: entry.description,
    parameters: parameters(entry.schema),
    jobType: jobTypeOf('agentcli', entry.name),
    ...entry.timeoutSec > 0 && { timeoutSec: Math.min(entry.timeoutSec, limits.toolTimeoutSec.max) },
    enabled: true,
    idempotent: entry.idempotent,
    ...entry.limits !== undefined && { limits: entry.limits },
    ...entry.permissions !== undefined && { permissions: sortPermissions(entry.permissions).permissions },
    source: { format: 'agentcli', file, index },
    run: { kind: 'command', program: path, args, envPassthrough, ...entry.sha256 !== undefined && { sha256: digestOf(entry.sha256) } }
  }
}

function digestOf (written: string): string {
  if (digestShape.test(written)) return written.toLowerCase()
  throw new ManifestFault('fault 48', 'sha256 must be 64 hexadecimal digits', { fix: 'Write what sha256sum prints for the program.' })
}

/** Models expect parameters always; none means that the tool takes no particular arguments (AC11, R50). */
function parameters (schema: unknown): JsonSchema {
  if (schema === undefined) return { type: 'object', properties: {} }
  if (isSchemaObject(schema)) return schema
  throw new ManifestFault('A6', 'schema must be a JSON object', { fix: 'Write a JSON Schema of the arguments, or leave schema out.' })
}

function checkSchema (tool: Tool, schemas: SchemaCompiler): void {
  const fault = schemas.check(tool.parameters)
  if (fault === undefined) return
  throw located(new ManifestFault('A6', `schema ${fault.message}`, { fix: fault.fix }), tool.source.index, tool.name)
}

/** Puts the place in front of a fault's text (A27). */
function located (error: unknown, index: number, tool: string): unknown {
  if (!(error instanceof ManifestFault)) return error
  return new ManifestFault(error.rule, `tool[${index}] ${goQuote(tool)}: ${error.message}`, { ...error.place, index, tool })
}

function longTimeout ({ name, timeoutSec }: AgentcliEntry, index: number): Remark {
  const { max } = limits.toolTimeoutSec
  return {
    severity: 'warning',
    rule: 'X8',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: timeoutSec ${timeoutSec} is above ${max}; ${max} is used`,
    fix: `Write a timeoutSec of at most ${max}.`
  }
}
