import { setImmediate } from 'node:timers/promises'
import { ManifestFault, type Finding } from '../finding.ts'
import { goQuote } from '../go-quote.ts'
import { jobTypeOf } from '../job-type.ts'
import { limitsOf } from '../program/limit-fields.ts'
import { isOtherThanPinned } from '../program/pin.ts'
import { createTrustCheck, type TrustCheck } from '../program/trust.ts'
import type { SchemaCompiler } from '../schema/compiler.ts'
import type { Tool } from '../tool.ts'
import { skillArg } from './arg-mapping.ts'
import { checkPair, mappingRemarks, type Remark } from './execution-check.ts'
import { installedProgram } from './installed.ts'
import type { SkillOptions } from './options.ts'
import type { Execution, ToolDeclaration, ToolsFile } from './tools-file.ts'

/** A `tools.json` and what its tools are made with. */
export interface SkillToolsSource {
  contents: ToolsFile
  /** Absolute path of the `tools.json`. */
  file: string
  /** Absolute path of the skill's directory. */
  directory: string
  options: SkillOptions
  schemas: SchemaCompiler
}

/**
 * Makes tools of a `tools.json`, in its order (S6 to S23). One without an execution, or with one that the allowlist
 * doesn't hold, is an error and isn't served; its siblings are (SC3).
 *
 * @throws ManifestFault for a name that stands twice.
 */
export async function skillTools (source: SkillToolsSource): Promise<{ tools: Tool[], findings: Finding[] }> {
  const { tools: declarations = [], execution: executions = [] } = source.contents
  const tools: Tool[] = []
  const findings: Finding[] = strayExecutions(source)
  const programs = await findPrograms(source)
  const trust = createTrustCheck()
  for (const [index, declaration] of declarations.entries()) {
    const place = { file: source.file, index, tool: declaration.name }
    const prefix = `tool[${index}] ${goQuote(declaration.name)}: `
    if (declarations.findIndex(({ name }) => name === declaration.name) < index) {
      throw new ManifestFault('S6', `${prefix}duplicate name`, { index, tool: declaration.name, fix: 'Rename or remove one of the two.' })
    }
    try {
      const execution = executionOf(declaration, executions)
      tools.push(skillTool(declaration, index, execution, source))
      const remarks = [...mappingRemarks(execution, declaration, source.contents.allowlist ?? {}), ...await programRemarks(execution, programs.get(execution.binary), trust)]
      findings.push(...remarks.map(remark => ({ ...remark, ...place, severity: 'warning' as const, message: prefix + remark.message })))
    } catch (error) {
      if (!(error instanceof ManifestFault)) throw error
      findings.push({ ...error.place, ...place, severity: 'error', rule: error.rule, message: prefix + error.message })
    }
    // Judging patterns takes milliseconds each: a long manifest must not hold up a process that serves.
    await setImmediate()
  }
  return { tools, findings }
}

function strayExecutions ({ contents: { tools = [], execution = [] }, file }: SkillToolsSource): Finding[] {
  return execution.flatMap(({ tool }, at) => tools.some(({ name }) => name === tool)
    ? []
    : [{ severity: 'error' as const, file, rule: 'S11', tool, message: `execution[${at}]: tools declare no ${goQuote(tool)}`, fix: 'Declare the tool, or correct the name.' }])
}

function executionOf ({ name }: ToolDeclaration, executions: readonly Execution[]): Execution {
  const [execution, second] = executions.filter(({ tool }) => tool === name)
  if (execution === undefined) throw new ManifestFault('S6', 'no execution says how to run it', { fix: 'Add an execution whose tool is this name.' })
  if (second !== undefined) throw new ManifestFault('S11', 'more than one execution says how to run it', { fix: 'Keep one of them.' })
  return execution
}

function skillTool (declaration: ToolDeclaration, index: number, execution: Execution, { contents, file, directory, options, schemas }: SkillToolsSource): Tool {
  const { allowlist = {} } = contents
  const { binary, subcommand, args = [] } = execution
  checkPair(allowlist, binary, subcommand, { binary: 'S12', subcommand: 'S13' })
  const parameters = declaration.parameters ?? { type: 'object', properties: {} }
  const [fault] = schemas.check(parameters)
  if (fault !== undefined) throw new ManifestFault('S8', `parameters ${fault.message}`, { fix: fault.fix })
  return {
    name: declaration.name,
    description: declaration.description ?? '',
    parameters,
    jobType: jobTypeOf('skill', declaration.name),
    enabled: true,
    idempotent: false,
    ...declaration.permissions != null && { permissions: declaration.permissions },
    ...declaration.timeoutSec != null && { timeoutSec: declaration.timeoutSec },
    ...declaration.limits != null && { limits: limitsOf(declaration.limits) },
    source: { format: 'skill', file, index },
    run: { kind: 'skill', directory, binary, ...execution.sha256 != null && { sha256: execution.sha256.toLowerCase() }, subcommand, args: args.map(skillArg), allowlist, allowScripts: options.allowScripts }
  }
}

/** Each program is looked for once: a thousand tools often share one. */
async function findPrograms ({ contents: { execution = [] }, directory, options }: SkillToolsSource): Promise<Map<string, string>> {
  const programs = new Map<string, string>()
  for (const binary of new Set(execution.map(({ binary }) => binary))) {
    const path = await installedProgram(binary, directory, options.path)
    if (path !== undefined) programs.set(binary, path)
  }
  return programs
}

/** Warnings only: the program may be there, or another one, on the workers alone. */
async function programRemarks ({ binary, sha256 }: Execution, path: string | undefined, trust: TrustCheck): Promise<Remark[]> {
  if (path === undefined) return [{ rule: 'SC12', message: `program ${goQuote(binary)} is not installed here`, fix: 'Install it, or add its directory to PATH.' }]
  const remarks: Remark[] = []
  const open = await trust(path)
  if (open !== undefined) {
    remarks.push({ rule: 'fault 46', untrusted: true, message: `program ${goQuote(path)} may be replaced by others than its owner, who may write to ${goQuote(open)}`, fix: `Run chmod go-w on ${open}.` })
  }
  if (sha256 != null && await isOtherThanPinned(path, sha256)) {
    remarks.push({ rule: 'fault 48', nonconforming: true, message: `program ${goQuote(path)} is not the one that sha256 pins, and is not run`, fix: 'Look at what changed it; when it was you, write what sha256sum prints.' })
  }
  return remarks
}
