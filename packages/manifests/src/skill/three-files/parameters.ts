import { isRecord } from '@toolyard/contract/terms'
import { defaultFaults } from '../../schema/defaults.ts'
import type { Unheld } from './argument.ts'
import type { Declaration, Execution } from './definitions.ts'

const most = 20

/** Parameters that models are told of and nothing uses, and those that are used and that no model knows of. */
export function parameterRemarks ({ parameters }: Declaration, executions: readonly Execution[]): Unheld[] {
  const declared = isRecord(parameters?.['properties']) ? Object.keys(parameters['properties']) : []
  const used = executions.flatMap(({ args, paramCondition }) => [
    ...(args ?? []).flatMap(({ kind, param }) => kind === 'literal' || param == null ? [] : [param]),
    ...paramCondition?.present ?? [], ...paramCondition?.absent ?? []
  ])
  const unknown = [...new Set(used)].filter(name => !declared.includes(name))
  const unused = executions.length === 0 ? [] : declared.filter(name => !used.includes(name))
  return [
    ...defaultFaults(parameters ?? undefined).map(({ message, fix }): Unheld => ({ rule: 'S8', message: `parameters: ${message}`, fix })),
    ...unknown.slice(0, most).map(name => ({ rule: 'SN7', message: `parameters declare no property ${JSON.stringify(name)}, which an argument uses`, fix: 'Declare it, so that models know of it, or correct the name.' })),
    ...unused.slice(0, most).map(name => ({ rule: 'SN7', message: `no argument uses the parameter ${JSON.stringify(name)}`, fix: 'Add an argument for it, or take the property away.' }))
  ]
}
