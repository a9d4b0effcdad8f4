import { limits, isQueueName, queueNamePattern } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../handler.ts'

/** One step as it is written. */
export interface StepDefinition {
  name: string
  tool?: string
  type?: string
  queue?: string
  arguments: Record<string, unknown>
  /** Steps that must have succeeded before, beside those that its placeholders name. */
  needs: string[]
}

/** One workflow of a file. */
export interface WorkflowDefinition {
  /** What it is called beside its key; the key when it says nothing. */
  title: string
  /** Parameters with a default. */
  params: Record<string, unknown>
  steps: StepDefinition[]
  /** What is handed back; undefined: the output of the last step. */
  output?: unknown
}

const workflowFields = ['name', 'description', 'params', 'vars', 'steps', 'output']
const stepFields = ['name', 'id', 'description', 'tool', 'type', 'arguments', 'input', 'depends_on', 'needs', 'queue']
const namePattern = /^[A-Za-z_][\w-]{0,63}$/

/**
 * Reads one workflow of a parsed file (RC43).
 *
 * @throws BuiltinFailure naming the first place that is wrong.
 */
export function readDefinition (document: unknown, name: string): WorkflowDefinition {
  const workflows = isRecord(document) ? document['workflows'] : undefined
  if (!isRecord(workflows)) throw new BuiltinFailure("the workflow file must have a map 'workflows'")
  if (!Object.hasOwn(workflows, name)) {
    throw new BuiltinFailure(`workflow not found: ${name} (the file has: ${Object.keys(workflows).slice(0, 50).join(', ')})`)
  }
  const at = `workflows.${name}`
  const workflow = record(workflows[name], at)
  refuseUnknown(workflow, workflowFields, at)
  const steps = workflow['steps']
  if (!Array.isArray(steps) || steps.length === 0) throw new BuiltinFailure(`${at}.steps must be a list of steps`)
  if (steps.length > limits.workflow.steps) throw new BuiltinFailure(`${at}.steps must have at most ${limits.workflow.steps} steps`)
  const read = steps.map((step: unknown, index) => readStep(step, index, `${at}.steps[${index}]`))
  const double = read.find((step, index) => read.findIndex(other => other.name === step.name) !== index)
  if (double !== undefined) throw new BuiltinFailure(`${at}.steps: two steps are named '${double.name}'`)
  return {
    title: text(workflow, ['name'], at) ?? name,
    params: map(workflow, ['params', 'vars'], at),
    steps: read,
    ...(Object.hasOwn(workflow, 'output') ? { output: workflow['output'] } : {})
  }
}

function readStep (value: unknown, index: number, at: string): StepDefinition {
  const step = record(value, at)
  refuseUnknown(step, stepFields, at)
  const name = text(step, ['name', 'id'], at) ?? `step${index + 1}`
  if (!namePattern.test(name)) throw new BuiltinFailure(`${at}.name must begin with a letter or _, and hold at most 64 letters, digits, _ and -`)
  const tool = text(step, ['tool'], at)
  const type = text(step, ['type'], at)
  if ((tool === undefined) === (type === undefined)) throw new BuiltinFailure(`${at} must name its 'tool' or, instead, its job 'type'`)
  const queue = text(step, ['queue'], at)
  if (queue !== undefined && !isQueueName(queue)) throw new BuiltinFailure(`${at}.queue must match ${queueNamePattern}`)
  return {
    name,
    ...(tool === undefined ? {} : { tool }),
    ...(type === undefined ? {} : { type }),
    ...(queue === undefined ? {} : { queue }),
    arguments: map(step, ['arguments', 'input'], at),
    needs: names(step, ['depends_on', 'needs'], at)
  }
}

/** The one of two names of a field that is there. */
function field (value: Record<string, unknown>, names: readonly string[], at: string): unknown {
  const there = names.filter(name => value[name] !== undefined && value[name] !== null)
  if (there.length > 1) throw new BuiltinFailure(`${at} has both '${there.join("' and '")}'; they mean the same`)
  return value[there[0] ?? '']
}

function text (value: Record<string, unknown>, fields: readonly string[], at: string): string | undefined {
  const found = field(value, fields, at)
  if (found === undefined) return undefined
  if (typeof found !== 'string' || found.trim() === '') throw new BuiltinFailure(`${at}.${fields[0]} must be a text`)
  return found
}

function map (value: Record<string, unknown>, fields: readonly string[], at: string): Record<string, unknown> {
  const found = field(value, fields, at)
  return found === undefined ? {} : record(found, `${at}.${fields[0]}`)
}

function names (value: Record<string, unknown>, fields: readonly string[], at: string): string[] {
  const found = field(value, fields, at)
  if (found === undefined) return []
  const list: unknown[] = Array.isArray(found) ? found : [found]
  if (!list.every(name => typeof name === 'string')) throw new BuiltinFailure(`${at}.${fields[0]} must be a list of steps' names`)
  return list
}

function record (value: unknown, at: string): Record<string, unknown> {
  if (!isRecord(value)) throw new BuiltinFailure(`${at} must be a map`)
  return value
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuseUnknown (value: Record<string, unknown>, known: readonly string[], at: string): void {
  const unknown = Object.keys(value).find(key => !known.includes(key))
  if (unknown !== undefined) throw new BuiltinFailure(`${at}.${unknown.slice(0, 80)} is no known field (known: ${known.join(', ')})`)
}
