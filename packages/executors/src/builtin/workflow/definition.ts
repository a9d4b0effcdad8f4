import { limits, isQueueName, queueNamePattern, isRecord, withoutUndefined } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'
import { field, record, refuseUnknown, repeated, text, whole } from './fields.ts'
import { readParams, type WorkflowParam } from './params.ts'
import type { StepWishes } from '../../run/steps.ts'

interface StepDefinition {
  name: string
  tool?: string
  type?: string
  queue?: string
  arguments: Record<string, unknown>
  /** Steps that must have succeeded before, beside those that its placeholders name. */
  needs: string[]
  wishes: StepWishes
}

export interface WorkflowDefinition {
  /** The key when the file has no title. */
  title: string
  params: WorkflowParam[]
  steps: StepDefinition[]
  /** Undefined: the output of the last step. */
  output?: unknown
}

const workflowFields = ['name', 'description', 'params', 'vars', 'steps', 'output']
const stepFields = ['name', 'id', 'description', 'tool', 'type', 'arguments', 'input', 'depends_on', 'needs', 'queue', 'priority', 'timeout_sec', 'max_attempts', 'tags']
const namePattern = /^[A-Za-z_][\w-]{0,63}$/

/** Reads one workflow of a parsed file. @throws BuiltinFailure naming the first place that is wrong. */
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
  const double = repeated(read.map(step => step.name))
  if (double !== undefined) throw new BuiltinFailure(`${at}.steps: two steps are named '${double}'`)
  return {
    title: text(workflow, ['name'], at) ?? name,
    params: readParams(field(workflow, ['params', 'vars'], at), `${at}.params`),
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
    ...withoutUndefined({ tool, type, queue }),
    arguments: map(step, ['arguments', 'input'], at),
    needs: names(step, ['depends_on', 'needs'], at),
    wishes: readWishes(step, at)
  }
}

function readWishes (step: Record<string, unknown>, at: string): StepWishes {
  const wishes = {
    priority: whole(step, 'priority', limits.priority, at),
    timeoutSec: whole(step, 'timeout_sec', limits.jobTimeoutSec, at),
    maxAttempts: whole(step, 'max_attempts', limits.attempts, at)
  }
  const tags = names(step, ['tags'], at)
  if (tags.some(tag => tag === '' || tag.length > limits.tags.length)) throw new BuiltinFailure(`${at}.tags must be texts of 1 to ${limits.tags.length} characters`)
  return {
    ...Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined)), ...(tags.length === 0 ? {} : { tags })
  }
}

function map (value: Record<string, unknown>, fields: readonly string[], at: string): Record<string, unknown> {
  const found = field(value, fields, at)
  return found === undefined ? {} : record(found, `${at}.${fields[0]}`)
}

function names (value: Record<string, unknown>, fields: readonly string[], at: string): string[] {
  const found = field(value, fields, at)
  if (found === undefined) return []
  const list: unknown[] = Array.isArray(found) ? found : [found]
  if (!list.every(name => typeof name === 'string')) throw new BuiltinFailure(`${at}.${fields[0]} must be a list of texts`)
  return list
}
