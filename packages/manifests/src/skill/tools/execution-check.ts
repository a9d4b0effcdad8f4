import { ManifestFault, type DocumentPath } from '../../finding/finding.ts'
import { defaultFaults } from '../../schema/defaults.ts'
import type { ArgMapping, Execution, ResolveCommand, ToolDeclaration } from './tools-file.ts'

/** It is served, but should be looked at. */
export interface Remark {
  rule: string
  message: string
  fix: string
  nonconforming?: true
  untrusted?: true
  path?: DocumentPath
  /** Position in the file, from 1, where it is known. */
  line?: number
  column?: number
}

/** Subcommands by programs: an author may list many, and each execution names one. */
export type Allowlist = ReadonlyMap<string, ReadonlySet<string>>

export function allowlistOf (written: Readonly<Record<string, readonly string[]>>): Allowlist {
  return new Map(Object.entries(written).map(([binary, subcommands]) => [binary, new Set(subcommands)]))
}

/** Why a pair may not run, in its documented text; undefined when it may. The executor looks again. */
export function checkPair (
  allowlist: Allowlist, binary: string, subcommand: string, rules: { binary: string, subcommand: string }
): ManifestFault | undefined {
  const subcommands = allowlist.get(binary)
  if (subcommands === undefined) return new ManifestFault(rules.binary, `binary not allowlisted: ${binary}`, { fix: 'Add the binary to allowlist, or correct its name.' })
  if (subcommands.has(subcommand)) return undefined
  return new ManifestFault(rules.subcommand, `subcommand not allowlisted: ${binary} ${subcommand}`, { fix: `Add it to allowlist[${JSON.stringify(binary)}], letter for letter.` })
}

/**
 * Findings in the mapping of a tool that can be served: parameters that no caller knows of, resolvers
 * that can never resolve anything, and fields that have no effect, and
 * defaults that don't fit.
 */
export function mappingRemarks (execution: Execution & { at: number }, declaration: ToolDeclaration, allowlist: Allowlist): Remark[] {
  const properties: unknown = declaration.parameters?.['properties']
  const defaults = defaultFaults(declaration.parameters).map(({ message, fix }): Remark => ({ rule: 'S8', message: `parameters: ${message}`, fix }))
  const mappings = (execution.args ?? []).flatMap((mapping, at) => [
    ...parameterRemarks(mapping, properties),
    ...mapping.resolveCommand == null ? [] : resolverRemarks(mapping, mapping.resolveCommand, allowlist)
  ].map(remark => ({ ...remark, path: ['execution', execution.at, 'args', at], message: `args[${at}]: ${remark.message}` })))
  return [...defaults, ...mappings]
}

function parameterRemarks ({ param }: ArgMapping, properties: unknown): Remark[] {
  if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, param)) return []
  return [{ rule: 'S15', message: `parameters declare no property ${JSON.stringify(param)}`, fix: 'Declare it, so that models know of it, or correct the name.' }]
}

function resolverRemarks ({ kind }: ArgMapping, resolver: ResolveCommand, allowlist: Allowlist): Remark[] {
  if (kind === 'flagifboolean') {
    return [{ rule: 'SC19', message: 'resolveCommand has no effect on flagifboolean', fix: 'Remove resolveCommand.' }]
  }
  const { script, binary, subcommand } = resolver
  const remarks: Remark[] = []
  if (script != null && (script.includes('..') || /[/\\]/.test(script))) {
    remarks.push({ rule: 'S29', message: `script ${JSON.stringify(script)} must not contain .., / or \\, so it never runs`, fix: 'Name a file in scripts/.' })
  }
  if (binary != null && subcommand != null) remarks.push(...pairRemarks(allowlist, binary, subcommand))
  else if (script == null || binary != null || subcommand != null) {
    remarks.push({ rule: 'S26', message: 'resolveCommand needs a script, or a binary and a subcommand', fix: 'Name what resolves the value.' })
  }
  return remarks
}

function pairRemarks (allowlist: Allowlist, binary: string, subcommand: string): Remark[] {
  const fault = checkPair(allowlist, binary, subcommand, { binary: 'S30', subcommand: 'S31' })
  return fault === undefined ? [] : [{ rule: fault.rule, message: `resolveCommand: ${fault.message}, so it never runs`, fix: fault.place.fix ?? '' }]
}
