import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isRecord } from '@toolyard/contract/terms'
import { Check } from 'typebox/schema'
import { createPause } from '../../document/pause.ts'
import { wholeFinding, type Finding } from '../../finding/finding.ts'
import { goQuote } from '../../finding/go-quote.ts'
import type { Schemas } from '../../schema/schemas.ts'
import { jobTypeOf } from '../../tool/job-type.ts'
import { manifestLimits } from '../../tool/limits.ts'
import type { SkillExecution } from '../../tool/skill-command.ts'
import type { Tool } from '../../tool/tool.ts'
import type { SkillOptions } from '../tools/options.ts'
import { allowlistOf } from '../tools/execution-check.ts'
import { createProgramCheck } from '../tools/program-check.ts'
import { shapeFaults } from '../tools/shape.ts'
import type { Unheld } from './argument.ts'
import { Declaration, Execution } from './definitions.ts'
import { readDocuments, type Documents } from './documents.ts'
import { readExecution } from './execution.ts'
import { defaultFaults } from '../../schema/defaults.ts'
import { commonForm } from '../../schema/form/common-form.ts'

/** A skill with three files, and what its tools are made with. */
interface ThreeFiles {
  /** Absolute path of the skill's directory. */
  directory: string
  toolsText: string
  /** Programs that the skill says it needs, and which list of alternatives this machine has. */
  programs: readonly string[]
  binGroup: number | undefined
  options: SkillOptions
  schemas: Schemas
}

/** An execution as it was read, and its place in the list. */
type Placed = { at: number, written?: Execution, execution?: SkillExecution, faults: readonly Unheld[], remarks: readonly Unheld[] }

/**
 * Makes tools of the three files, in the order of tools.json. A tool that has something that can't be held to is there, and
 * says why it can't run; its siblings are served.
 */
export async function threeFileTools (source: ThreeFiles): Promise<{ tools?: Tool[], findings: Finding[] }> {
  const { directory, toolsText } = source
  const documents = await readDocuments(directory, toolsText)
  if (Array.isArray(documents)) return { findings: documents.map(({ name, fault }) => wholeFinding(fault, join(directory, name))) }
  const [file, executionFile] = [join(directory, 'tools.json'), join(directory, 'execution.json')]
  const executions = await placedExecutions(documents, source)
  const findings: Finding[] = []
  const tools = new Map<string, Tool>()
  const doubles = new Set<string>()
  const programs = createProgramCheck(source)
  const pause = createPause()
  for (const [index, written] of documents.tools.entries()) {
    const declared = await declarationOf(written)
    const name = isRecord(written) && typeof written['name'] === 'string' ? written['name'] : ''
    const prefix = `tool[${index}] ${goQuote(name)}: `
    const tell = (remark: Unheld, more: Partial<Finding> = {}): void => {
      findings.push({ severity: 'warning', file, index, tool: name, ...more, rule: remark.rule, message: prefix + remark.message, fix: remark.fix })
    }
    const schemaFaults = declared.declaration === undefined ? [] : await source.schemas.check(declared.declaration.parameters ?? {})
    const wrong = [...declared.faults, ...schemaFaults.map(({ message, fix }) => ({ rule: 'S8', message: `parameters ${message}`, fix }))]
    for (const fault of wrong) tell(fault, { severity: 'error' })
    if (tools.has(name)) doubles.add(name)
    if (declared.declaration === undefined || wrong.length > 0) continue
    const own = executions.get(name) ?? []
    const chosen = chosenOf(own, source.binGroup)
    const faults = [...chosen.faults, ...chosen.executions.flatMap(({ faults }) => faults)]
    for (const fault of faults) tell(fault, { severity: 'error', file: executionFile })
    const writtenOnes = chosen.executions.flatMap(({ written }) => written ?? [])
    for (const remark of [...unknownFields(written), ...await parameterRemarks(declared.declaration, writtenOnes)]) tell(remark)
    for (const { at, written: each, remarks } of chosen.executions) {
      await pause()
      const lacking = each === undefined ? [] : await programs(asLookedFor(each))
      for (const remark of [...remarks, ...lacking]) tell(remark, { ...remark, file: executionFile, path: [at] })
    }
    const executionsOf = chosen.executions.flatMap(({ execution }) => execution ?? [])
    tools.set(name, toolOf(declared.declaration, { index, file, executions: executionsOf, faults }, { documents, source }))
    // Judging patterns takes milliseconds each: a long list must not hold up a process that serves.
    await setImmediate()
  }
  for (const name of [...doubles, ...stray(executions, documents)]) {
    findings.push(doubles.has(name)
      ? { severity: 'error', whole: true, file, rule: 'S6', tool: name, message: `${goQuote(name)}: duplicate name`, fix: 'Rename or remove one of the two.' }
      : { severity: 'error', file: executionFile, rule: 'S11', tool: name, message: `tools.json declares no ${goQuote(name)}`, fix: 'Declare the tool, or correct the name.' })
  }
  return { ...doubles.size === 0 && { tools: [...tools.values()] }, findings }
}

/** By the names of their tools. An element that isn't as it must be has its faults in place of an execution. */
async function placedExecutions (
  documents: Documents, { options: { allowScripts }, programs }: ThreeFiles
): Promise<Map<string, Placed[]>> {
  const found = new Map<string, Placed[]>()
  const allowlist = allowlistOf(documents.allowlist)
  const pause = createPause()
  for (const [at, written] of documents.execution.slice(0, manifestLimits.tools).entries()) {
    await pause()
    const tool = isRecord(written) && typeof written['tool'] === 'string' ? written['tool'] : ''
    const wrong = (await shapeFaults(Execution, written)).map(({ message, keyword }): Unheld => ({
      rule: 'SN4',
      message: keyword === 'additionalProperties' ? `${message}: it may be a protection` : message,
      fix: 'Correct it, or take a newer Toolyard.'
    }))
    const place: Placed = isExecution(written)
      ? readPlaced(written, at, { unread: documents.unread, place: { allowlist, allowScripts, programs } })
      : { at, faults: wrong, remarks: [] }
    const faults = place.faults.map(fault => ({ ...fault, message: `execution[${at}]: ${fault.message}` }))
    const own = found.get(tool) ?? []
    own.push({ ...place, faults })
    found.set(tool, own)
  }
  return found
}

/** Its program, and what resolves its values, as the check of programs knows them. */
function asLookedFor ({ tool, binary, args }: Execution): Parameters<ReturnType<typeof createProgramCheck>>[0] {
  const mappings = (args ?? []).map(({ param, resolveCommand }) => ({ param: param ?? '', ...resolveCommand != null && { resolveCommand: { ...resolveCommand, args: [] } } }))
  return { tool, binary, subcommand: '', args: mappings }
}

function isExecution (written: unknown): written is Execution {
  return Check(Execution, written)
}

function readPlaced (
  written: Execution, at: number,
  { unread, place }: { unread: Documents['unread'], place: Parameters<typeof readExecution>[1] }
): Placed {
  const { execution, faults, remarks } = readExecution(written, place)
  const ofArguments = (written.args ?? []).flatMap(({ resolveCommand, denyResolveCommand }) => [resolveCommand, denyResolveCommand])
  const helpers = [written.postProcess, ...ofArguments]
  const used = [written.binary, ...helpers.flatMap(helper => helper?.binary ?? [])]
  const unknown = [...new Set(used)].filter(name => unread.has(name)).map((name): Unheld => (
    { rule: 'SN5', message: `allowlist.json has something for ${JSON.stringify(name)} that is no list of subcommands: it may be a protection`, fix: 'Write the list of its subcommands, or take a newer Toolyard.' }
  ))
  return { at, written, execution, faults: unknown.length > 0 ? unknown : faults, remarks }
}

/** The executions that are for what this machine has, and what is wrong with them together. */
function chosenOf (own: readonly Placed[], binGroup: number | undefined): { executions: Placed[], faults: Unheld[] } {
  if (own.length === 0) return { executions: [], faults: [{ rule: 'S6', message: 'no execution says how to run it', fix: 'Add an execution whose tool is this name.' }] }
  const executions = own.filter(({ written }) => written?.condition == null || written.condition.binGroup === binGroup)
  if (executions.length === 0) return { executions, faults: [{ rule: 'SN34', message: 'no execution is for the programs that this machine has (condition.binGroup)', fix: 'Install the programs of another group of metadata.requires.bins.' }] }
  const [only, other] = executions
  // The only one runs in any case.
  if (other === undefined && only?.execution !== undefined) {
    const { when: _, ...execution } = only.execution
    return { executions: [{ ...only, execution }], faults: [] }
  }
  const others = executions.filter(({ execution }) => execution !== undefined && execution.when === undefined)
  return { executions, faults: others.length > 1 ? [{ rule: 'SN35', message: 'more than one execution without paramCondition says how to run it', fix: 'Give all but one of them a paramCondition.' }] : [] }
}

async function declarationOf (written: unknown): Promise<{ declaration?: Declaration, faults: Unheld[] }> {
  const faults = (await shapeFaults(Declaration, written)).map(({ message }): Unheld => ({ rule: 'SN2', message, fix: 'Correct the value.' }))
  if (!isDeclaration(written)) return { faults }
  const { parameters } = written
  return { declaration: { ...written, ...parameters != null && { parameters: commonForm(parameters) } }, faults }
}

function isDeclaration (written: unknown): written is Declaration {
  return Check(Declaration, written)
}

function unknownFields (written: unknown): Unheld[] {
  const known = new Set(['name', 'description', 'parameters'])
  return Object.keys(isRecord(written) ? written : {}).filter(name => !known.has(name)).slice(0, 20)
    .map(name => ({ rule: 'SN3', message: `${JSON.stringify(name.slice(0, 100))} is no known field and is ignored`, fix: 'What a tool may do stands in an entry of the operator about its skill; take the field out.' }))
}

function stray (executions: ReadonlyMap<string, unknown>, { tools }: Documents): string[] {
  const names = new Set(tools.map(tool => isRecord(tool) ? tool['name'] : undefined))
  return [...executions.keys()].filter(name => !names.has(name)).slice(0, 20)
}

/** Keywords by which a schema says more of its properties itself. */
const saysMore = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if']

function toolOf (
  { name, description, parameters }: Declaration,
  { index, file, executions, faults }: { index: number, file: string, executions: SkillExecution[], faults: readonly Unheld[] },
  { documents: { allowlist }, source: { directory, options } }: { documents: Documents, source: ThreeFiles }
): Tool {
  const [fault] = faults
  const schema = parameters ?? { type: 'object', properties: {} }
  return {
    name,
    description: description ?? '',
    // A parameter that no caller was told of is refused, as in the original.
    parameters: saysMore.some(keyword => Object.hasOwn(schema, keyword)) ? schema : { ...schema, additionalProperties: false },
    jobType: jobTypeOf('skill', name),
    enabled: true,
    idempotent: false,
    ...fault !== undefined && { unavailable: fault.message },
    source: { format: 'skill', file, index },
    run: { kind: 'skill-command', directory, executions: fault === undefined ? executions : [], allowlist, allowScripts: options.allowScripts }
  }
}

const most = 20

/** Parameters that models are told of and nothing uses, and those that are used and that no model knows of. */
async function parameterRemarks ({ parameters }: Declaration, executions: readonly Execution[]): Promise<Unheld[]> {
  const declared = new Set(isRecord(parameters?.['properties']) ? Object.keys(parameters['properties']) : [])
  const used = new Set<string>()
  const pause = createPause()
  for (const { args, paramCondition } of executions) {
    await pause()
    for (const { kind, param } of args ?? []) if (kind !== 'literal' && param != null) used.add(param)
    for (const name of [...paramCondition?.present ?? [], ...paramCondition?.absent ?? []]) used.add(name)
  }
  const unknown = [...used].filter(name => !declared.has(name))
  const unused = executions.length === 0 ? [] : [...declared].filter(name => !used.has(name))
  return [
    ...defaultFaults(parameters ?? undefined).map(({ message, fix }): Unheld => ({ rule: 'S8', message: `parameters: ${message}`, fix })),
    ...unknown.slice(0, most).map(name => ({ rule: 'SN7', message: `parameters declare no property ${JSON.stringify(name)}, which an argument uses`, fix: 'Declare it, so that models know of it, or correct the name.' })),
    ...unused.slice(0, most).map(name => ({ rule: 'SN7', message: `no argument uses the parameter ${JSON.stringify(name)}`, fix: 'Add an argument for it, or take the property away.' }))
  ]
}
