import { grouped } from '@toolyard/contract/terms'
import { setImmediate } from 'node:timers/promises'
import { createPause } from '../../document/pause.ts'
import { ManifestFault, wholeFinding, type Finding } from '../../finding/finding.ts'
import { goQuote } from '../../finding/go-quote.ts'
import { jobTypeOf } from '../../tool/job-type.ts'
import { limitsOf } from '../../program/limit-fields.ts'
import { readNetwork, type NetworkReading } from '../../program/network.ts'
import { commonForm } from '../../schema/form/common-form.ts'
import type { Schemas } from '../../schema/schemas.ts'
import type { Tool } from '../../tool/tool.ts'
import { allowlistOf, checkPair, mappingRemarks, type Allowlist } from './execution-check.ts'
import type { SkillOptions } from './options.ts'
import { createProgramCheck } from './program-check.ts'
import type { Execution, ToolDeclaration, ToolsFile, ArgMapping, ResolveCommand } from './tools-file.ts'
import type { SkillArg, SkillResolver } from '../../tool/skill-run.ts'

interface SkillToolsSource {
  contents: ToolsFile
  /** Absolute path of the `tools.json`. */
  file: string
  /** Absolute path of the skill's directory. */
  directory: string
  options: SkillOptions
  schemas: Schemas
  /** Whether every fault is told, also where the first one decides. */
  everyFault: boolean
}

type PlacedExecution = Execution & { at: number }

/**
 * Makes tools of a `tools.json`, in its order. One without an execution, or with one that the allowlist
 * doesn't hold, is an error and isn't served; its siblings are. A name that stands twice leaves none.
 */
export async function skillTools (source: SkillToolsSource): Promise<{ tools?: Tool[], findings: Finding[] }> {
  const { contents, file, everyFault } = source
  const { tools = [], execution = [] } = contents
  const declarations = tools.map(pointed)
  const allowlist = allowlistOf(contents.allowlist ?? {})
  const executions = grouped(execution.map((each, at): PlacedExecution => ({ ...each, at })), ({ tool }) => tool)
  const doubles = doubleNames(declarations).map(fault => wholeFinding(fault, file))
  if (doubles.length > 0 && !everyFault) return { findings: doubles.slice(0, 1) }
  const served: Tool[] = []
  const findings = [...doubles, ...strayExecutions(source)]
  const programs = createProgramCheck(source)
  const pause = createPause()
  for (const [index, declaration] of declarations.entries()) {
    const place = { file, index, tool: declaration.name }
    const prefix = `tool[${index}] ${goQuote(declaration.name)}: `
    const own = executions.get(declaration.name) ?? []
    const faults = await toolFaults(declaration, own, { allowlist, schemas: source.schemas })
    findings.push(...faults.map(({ rule, message, place: where }) => ({ ...where, ...place, severity: 'error' as const, rule, message: prefix + message })))
    for (const each of own) {
      await pause()
      const remarks = [...mappingRemarks(each, declaration, allowlist), ...await programs(each)]
      findings.push(...remarks.map(remark => ({ path: ['execution', each.at], ...remark, ...place, severity: 'warning' as const, message: prefix + remark.message })))
    }
    const [only] = own
    if (faults.length === 0 && only !== undefined) served.push(skillTool(declaration, index, only, source))
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await setImmediate()
  }
  return { ...doubles.length === 0 && { tools: served }, findings }
}

function pointed (declaration: ToolDeclaration): ToolDeclaration {
  const { parameters } = declaration
  return parameters == null ? declaration : { ...declaration, parameters: commonForm(parameters) }
}

function doubleNames (declarations: readonly ToolDeclaration[]): ManifestFault[] {
  const names = new Set<string>()
  return declarations.flatMap(({ name }, index) => {
    const known = names.has(name)
    names.add(name)
    return known ? [new ManifestFault('S6', `tool[${index}] ${goQuote(name)}: duplicate name`, { index, tool: name, fix: 'Rename or remove one of the two.' })] : []
  })
}

function strayExecutions ({ contents: { tools = [], execution = [] }, file }: SkillToolsSource): Finding[] {
  const names = new Set(tools.map(({ name }) => name))
  return execution.flatMap(({ tool }, at) => names.has(tool)
    ? []
    : [{ severity: 'error' as const, file, rule: 'S11', tool, path: ['execution', at, 'tool'], message: `execution[${at}]: tools declare no ${goQuote(tool)}`, fix: 'Declare the tool, or correct the name.' }])
}

/** Why a tool isn't served. */
async function toolFaults (
  declaration: ToolDeclaration, executions: readonly PlacedExecution[], { allowlist, schemas }: { allowlist: Allowlist, schemas: Schemas }
): Promise<ManifestFault[]> {
  const [first, second] = executions
  const faults: ManifestFault[] = []
  if (first === undefined) faults.push(new ManifestFault('S6', 'no execution says how to run it', { fix: 'Add an execution whose tool is this name.' }))
  if (second !== undefined) faults.push(new ManifestFault('S11', 'more than one execution says how to run it', { path: ['execution', second.at], fix: 'Keep one of them.' }))
  for (const { binary, subcommand, at } of executions) {
    const fault = checkPair(allowlist, binary, subcommand, { binary: 'S12', subcommand: 'S13' })
    if (fault !== undefined) faults.push(new ManifestFault(fault.rule, fault.message, { ...fault.place, path: ['execution', at, fault.rule === 'S12' ? 'binary' : 'subcommand'] }))
  }
  faults.push(...networkOf(declaration).faults.map(({ message, fix }) => new ManifestFault('egress/list', message, { ...fix !== undefined && { fix } })))
  return [...faults, ...(await schemas.check(declaration.parameters ?? {})).map(({ message, fix }) => new ManifestFault('S8', `parameters ${message}`, { fix }))]
}

function networkOf ({ network, permissions }: ToolDeclaration): NetworkReading {
  return readNetwork(network, permissions ?? undefined, [])
}

function skillTool (
  declaration: ToolDeclaration, index: number, execution: Execution,
  { contents: { allowlist = {} }, file, directory, options }: SkillToolsSource
): Tool {
  const { binary, subcommand, args = [] } = execution
  return {
    name: declaration.name,
    description: declaration.description ?? '',
    parameters: declaration.parameters ?? { type: 'object', properties: {} },
    jobType: jobTypeOf('skill', declaration.name),
    enabled: true,
    idempotent: false,
    ...networkOf(declaration).held,
    ...declaration.timeoutSec != null && { timeoutSec: declaration.timeoutSec },
    ...declaration.limits != null && { limits: limitsOf(declaration.limits) },
    source: { format: 'skill', file, index },
    run: { kind: 'skill', directory, binary, ...execution.sha256 != null && { sha256: execution.sha256.toLowerCase() }, subcommand, args: args.map(skillArg), allowlist, allowScripts: options.allowScripts }
  }
}

/** One entry of `args` with its defaults: kind positional, the flag named like the parameter. */
function skillArg (mapping: ArgMapping): SkillArg {
  const { param, kind = 'positional' } = mapping
  if (kind === 'flagifboolean') {
    const { flagIfTrue, flagIfFalse } = mapping
    return { kind, param, ...present({ flagIfTrue, flagIfFalse }) }
  }
  const value = {
    param,
    normalizeNewlines: mapping.normalizeNewlines ?? false,
    // A flag takes the element behind it as its value, whatever that starts with.
    allowDash: mapping.allowDash ?? kind === 'flag',
    ...mapping.resolveCommand != null && { resolver: skillResolver(mapping.resolveCommand) }
  }
  return kind === 'flag' ? { kind, ...value, flag: mapping.flag ?? param } : { kind, ...value }
}

function skillResolver ({ script, binary, subcommand, sha256, args = [] }: ResolveCommand): SkillResolver {
  return { ...present({ script, binary, subcommand, sha256: sha256?.toLowerCase() }), args }
}

/** The fields that have a text: for this format, null and absent are the same. */
function present<Key extends string> (fields: Record<Key, string | null | undefined>): Partial<Record<Key, string>> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The names are those of the fields.
  return Object.fromEntries(
    Object.entries<string | null | undefined>(fields).filter(([, text]) => text != null)
  ) as Partial<Record<Key, string>>
}
