import { around, isRecord, limits, readJson, withNumbers, writeJson } from '@toolyard/contract/terms'
import { setImmediate as turn } from 'node:timers/promises'
import { WorkspaceFailure } from '@toolyard/workspace'
import { BuiltinFailure, ownerOfBuiltin, type BuiltinContext, type BuiltinHandler } from '../kit/handler.ts'
import { textArgument } from '../kit/arguments.ts'
import { workflowAnswer } from './answer.ts'
import { workflowClock, type WorkflowClock } from './clock.ts'
import { readDefinition } from './definition.ts'
import { planWorkflow, type PlannedStep, type WorkflowPlan } from './plan.ts'
import { createSubstitution, type Substitution } from './substitution.ts'
import { BuiltinWait, type StepProgress, type WorkflowSteps } from '../../run/steps.ts'
import type { Threads } from '@toolyard/runtime/threads'
import { readWorkflowFile, type ReadYaml } from './workflow-file.ts'

const defaultFile = 'workflows.yaml'

/**
 * `workflow.run`: runs the steps of a workflow as jobs of their own. A run starts what can start and ends
 * with `BuiltinWait`; the job then takes no place of a worker, and is run again when a step has settled. Every run finds
 * what was begun before it. The first step that fails ends the workflow. See docs/decisions/0045-workflow-steps.md.
 */
export function createRunWorkflow (readYaml: ReadYaml, threads: Threads): BuiltinHandler {
  return async (args, context) => {
    const { steps, log } = context
    if (steps === undefined) throw new BuiltinFailure('workflows are run by workers alone', 'TOOL_UNAVAILABLE')
    const kept = await steps.keep(async () => writeJson(around(await makePlan(args, { steps, context, readYaml }))))
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It was written here.
    const plan = withNumbers(readJson(kept)) as WorkflowPlan
    const progress = await steps.progress(plan.steps.map(step => step.name))
    const clock = await clockOf(plan, progress, steps)
    const isLate = clock.isOver
    const host = { threads, signal: context.signal, owner: ownerOfBuiltin(context) }
    const substitution = createSubstitution({ params: plan.params, progress, ...host })
    try {
      refuseFailed(plan, progress, isLate)
      if (plan.steps.every(step => progress.byName.get(step.name)?.state === 'succeeded')) return await workflowAnswer(plan, progress, substitution)
      if (isLate) throw lateFailure(plan, progress, context.timeoutMs)
      for (const step of plan.steps) {
        if (!isReady(step, progress)) continue
        log(`step '${step.name}' is started: ${await startStep(step, clock.until, { steps, substitution })}`)
      }
    } catch (error) {
      // Anything else is no end of the workflow: the same job may go on.
      if (error instanceof WorkspaceFailure) await steps.cancel()
      throw error
    }
    throw new BuiltinWait({ until: clock.latest, settled: progress.settled })
  }
}

/** Asked only where it matters: while steps run, their own time is what ends them. */
async function clockOf (plan: WorkflowPlan, progress: StepProgress, steps: WorkflowSteps): Promise<WorkflowClock> {
  const now = steps.now()
  const matters = now >= plan.until || plan.steps.some(step => isReady(step, progress))
  return workflowClock(plan.until, matters && progress.byName.size > 0 ? await steps.personWaits() : [], now)
}

interface PlanHost {
  steps: WorkflowSteps
  context: BuiltinContext
  readYaml: ReadYaml
}

async function makePlan (args: Readonly<Record<string, unknown>>, { steps, context, readYaml }: PlanHost): Promise<WorkflowPlan> {
  const until = steps.now() + context.timeoutMs
  const name = textArgument(args['workflow'])
  if (name === '') throw new BuiltinFailure('workflow is required')
  const { path: file, document } = await readWorkflowFile(context, textArgument(args['workflow_file']) || defaultFile, readYaml)
  const definition = readDefinition(document, name)
  const queue = textArgument(args['queue'])
  const params = around({ ...fieldsOf(args['vars']), ...fieldsOf(args['params']) })
  return planWorkflow({ name, file, until, definition, params, queue: queue === '' ? undefined : queue }, steps)
}

function fieldsOf (value: unknown): object {
  return isRecord(value) ? withNumbers(value) : {}
}

function refuseFailed (plan: WorkflowPlan, { byName }: StepProgress, isLate: boolean): void {
  for (const { name } of plan.steps) {
    const step = byName.get(name)
    if (step?.state !== 'failed') continue
    const { error, jobId } = step
    // The time of a step ends with that of the workflow at the latest: then it is the workflow's that was too short.
    if (error.code === 'TOOL_TIMEOUT' && isLate) continue
    throw new BuiltinFailure(`step '${name}' failed: ${error.message}`, 'TOOL_FAILED', { step: name, job_id: jobId, error })
  }
}

function lateFailure (plan: WorkflowPlan, { byName }: StepProgress, timeoutMs: number): BuiltinFailure {
  const unfinished = plan.steps.filter(({ name }) => byName.get(name)?.state !== 'succeeded').map(({ name }) => name)
  return new BuiltinFailure('tool timed out', 'TOOL_TIMEOUT', { timeout_sec: timeoutMs / 1_000, unfinished_steps: unfinished })
}

function isReady (step: PlannedStep, { byName }: StepProgress): boolean {
  return !byName.has(step.name) && step.needs.every(need => byName.get(need)?.state === 'succeeded')
}

interface StartHost {
  steps: WorkflowSteps
  substitution: Substitution
}

/** UTF-16 units of arguments that take a turn of the event loop by themselves. */
const turnChars = 65_536

async function startStep (step: PlannedStep, until: number, { steps, substitution }: StartHost): Promise<string> {
  const json = await substitution(step.arguments, `step '${step.name}': arguments`, limits.bodyParts)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The arguments of a step are an object.
  const args = readJson(json) as Record<string, unknown>
  // They are checked and written after that.
  if (json.length > turnChars) await turn()
  const { name, tool, type, queue, wishes } = step
  const started = await steps.start({ name, tool, type, queue, wishes, arguments: args, timeoutMs: until - steps.now() })
  if (typeof started === 'string') return `${tool}, job ${started}`
  throw new BuiltinFailure(`step '${name}': ${started.message}`, started.code, { step: name, error: started })
}
