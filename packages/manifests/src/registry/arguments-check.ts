import { setImmediate as turn } from 'node:timers/promises'
import { FilePlaces, isRecord, mostFileSteps, namesFiles, pathOf, skillArgumentFault } from '@toolyard/contract/terms'
import { TooManyValues, Turns } from '@toolyard/runtime'
import { lostNumber, type Issue } from '../schema/issues.ts'
import { patternOfNames } from '../schema/pattern/pattern.ts'
import { withWrittenNames } from '../schema/provider-names.ts'
import { withoutStrictNulls } from '../schema/strict-nulls.ts'
import type { ArgumentsResult } from '../schema/validator.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'
import type { RegisteredTool } from './registration.ts'

/**
 * Checks a call's arguments. Providers that don't take a property's name were sent another one, and in strict mode models
 * send null for an optional argument that they leave out.
 */
export async function checkArguments (registered: RegisteredTool, sent: Record<string, unknown>, owner: string): Promise<ArgumentsResult> {
  const args = withWrittenNames(registered.tool.parameters, sent)
  const lost = isJavaScript(registered.tool) ? lostNumber(args) : undefined
  if (lost !== undefined) return { ok: false, issues: [lost] }
  const checked = await registered.check(args, owner)
  if (checked.ok) return checked
  // Large arguments have taken this turn of the event loop already.
  await turn()
  // Such a null is no fault, also where something else is.
  const stripped = withoutStrictNulls(registered.tool.parameters, args)
  return stripped === args ? checked : await registered.check(stripped, owner)
}

/** Whether a tool runs in JavaScript, whose numbers are doubles. A workflow hands its parameters on, and so does `call_tool`. */
function isJavaScript ({ run, jobType }: Tool): boolean {
  return (run.kind === 'builtin' && jobType !== 'workflow.run') || (run.kind === 'service' && run.action !== 'call_tool') || run.kind === 'read-skill'
}

/** The first file that is named in arguments of a tenant's call without a session, which has none. */
export async function fileOfNoSession ({ parameters }: Tool, args: Record<string, unknown>): Promise<Issue[]> {
  if (!namesFiles(parameters)) return []
  try {
    const places = await new FilePlaces(parameters, { compile: patternOfNames, turns: new Turns(mostFileSteps) }).find(args, 0)
    return places.slice(0, 1).map(place => ({ path: pathOf(place), message: 'names a file: it is one of a session, and the call names none' }))
  } catch (error) {
    if (error instanceof TooManyValues) return [{ path: '/', message: 'holds too much to be searched for files' }]
    throw error
  }
}

/** Faults of arguments, in one line: of a skill in the words of its format, where that has any. */
export function summary (tool: Tool, args: Record<string, unknown>, issues: readonly Issue[]): string {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return skillFault(tool, args) ?? (first === undefined ? 'Arguments do not fit the schema' : `Arguments do not fit the schema: ${first.path} ${first.message}${more}`)
}

function skillFault ({ run, parameters }: Tool, args: Record<string, unknown>): string | undefined {
  if (run.kind === 'read-skill' && run.action === 'read') return typeof args['skill_name'] === 'string' ? undefined : 'missing skill_name'
  if (run.kind !== 'skill') return undefined
  return run.args.map(arg => skillArgumentFault(arg, Object.hasOwn(args, arg.param) ? args[arg.param] : defaultOf(parameters, arg.param)))
    .find(fault => fault !== undefined)
}

function defaultOf (schema: JsonSchema, name: string): unknown {
  const { properties } = schema
  const property = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isRecord(property) ? property['default'] : undefined
}
