import { around } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'
import type { WorkflowDefinition } from './definition.ts'
import { paramValues } from './params.ts'
import { namesIn, PlaceholderError } from './placeholders.ts'
import type { ResolvedTarget, StepWishes, WorkflowSteps } from '../../run/steps.ts'

/** A step that may run, and what it waits for. */
export interface PlannedStep extends ResolvedTarget {
  name: string
  /** With placeholders. */
  arguments: Record<string, unknown>
  needs: string[]
  wishes: StepWishes
}

/** It is kept with the job, so that a change of the file changes nothing that runs. */
export interface WorkflowPlan {
  name: string
  title: string
  file: string
  /** When its time is over, in milliseconds since 1970. */
  until: number
  params: Record<string, unknown>
  steps: PlannedStep[]
  output?: unknown
}

interface PlanParts {
  name: string
  file: string
  until: number
  definition: WorkflowDefinition
  /** Of the call; they win over the defaults of the definition. */
  params: Record<string, unknown>
  /** The queue of steps that name none. */
  queue: string | undefined
}

/**
 * Plans a workflow: every step is found to be one that may run, every placeholder names something, and no step waits
 * for itself, before any of them is started.
 *
 * @throws BuiltinFailure naming the step.
 */
export function planWorkflow ({ definition, queue, ...parts }: PlanParts, { resolve }: Pick<WorkflowSteps, 'resolve'>): WorkflowPlan {
  const params = paramValues(definition.params, parts.params)
  const names = new Set(definition.steps.map(step => step.name))
  const double = [...names].find(name => Object.hasOwn(params, name))
  if (double !== undefined) throw new BuiltinFailure(`'${double}' is both a step and a parameter`)
  const steps = around(definition.steps.map(step => {
    const found = resolve({ ...step, ...(step.queue ?? queue) === undefined ? {} : { queue: step.queue ?? queue ?? '' } })
    if ('code' in found) throw new BuiltinFailure(`step '${step.name}': ${found.message}`, found.code)
    const { name, arguments: args, wishes } = step
    return around({ ...found, name, arguments: args, wishes, needs: needsOf(step, { names, params }) })
  }))
  refuseCircle(steps)
  const named = stepsNamed(definition.output, 'output', { names, params })
  return { ...parts, title: definition.title, params, steps, ...(named === undefined ? {} : { output: definition.output }) }
}

interface StepScope {
  names: ReadonlySet<string>
  params: Record<string, unknown>
}

function needsOf ({ name, needs, arguments: args }: { name: string, needs: string[], arguments: unknown }, scope: StepScope): string[] {
  const unknown = needs.find(need => !scope.names.has(need))
  if (unknown !== undefined) throw new BuiltinFailure(`step '${name}' depends on '${unknown}', which is no step`)
  return [...new Set([...needs, ...stepsNamed(args, `step '${name}': arguments`, scope) ?? []])]
}

/** The steps that placeholders in a value name; undefined when there is no value. */
function stepsNamed (value: unknown, at: string, { names, params }: StepScope): string[] | undefined {
  if (value === undefined) return undefined
  try {
    const placeholders = namesIn(value, at)
    const unknown = placeholders.find(({ name }) => !names.has(name) && !Object.hasOwn(params, name))
    if (unknown !== undefined) {
      throw new PlaceholderError(`${unknown.at}: '${unknown.text}' names no parameter (${list(Object.keys(params))}) and no step (${list([...names])})`)
    }
    return placeholders.map(({ name }) => name).filter(name => names.has(name))
  } catch (error) {
    throw error instanceof PlaceholderError ? new BuiltinFailure(error.message) : error
  }
}

function list (names: readonly string[]): string {
  const shown = 20
  return names.length === 0 ? 'there are none' : names.slice(0, shown).join(', ') + (names.length > shown ? ', …' : '')
}

function refuseCircle (steps: readonly PlannedStep[]): void {
  const done = new Set<string>()
  for (let before = -1; done.size > before;) {
    before = done.size
    for (const step of steps) if (step.needs.every(need => done.has(need))) done.add(step.name)
  }
  const stuck = steps.filter(step => !done.has(step.name))
  if (stuck.length > 0) throw new BuiltinFailure(`these steps wait for each other: ${stuck.map(step => step.name).join(', ')}`)
}
