import { createOutputs } from './outputs.ts'
import { substitute } from './placeholders.ts'
import type { PlannedStep, WorkflowPlan } from './plan.ts'
import type { StepProgress } from '../../run/steps.ts'

/** A step in the answer; long outputs are truncated, and whole at `GET /v1/jobs/:id`. */
export interface CreatedJob {
  /** The name of the step, and the id of its job; `step` and `id` say the same. */
  step_id: string
  job_id: string
  step: string
  id: string
  type: string
  /** The steps that it waited for, those that its placeholders name among them. */
  depends_on: string[]
  tool: string
  queue: string
  status: 'succeeded'
  output: unknown
}

/** What `workflow_run` returns when all steps have succeeded (RC43). */
export interface WorkflowAnswer {
  ok: true
  workflow: string
  workflow_name: string
  workflow_file: string
  /** `output` as text; it comes first, as models are shown the beginning of a long answer. */
  output_text: string
  created_count: number
  created_jobs: CreatedJob[]
  /** What the workflow's `output` says, else the output of its last step. */
  output: unknown
  /** `output_text` once more. */
  stdout: string
}

/** Makes the answer of a workflow whose steps have all succeeded. */
export async function workflowAnswer (plan: WorkflowPlan, progress: StepProgress): Promise<WorkflowAnswer> {
  const jobs = await Promise.all(plan.steps.map(step => createdJob(step, progress)))
  const output = await outputOf(plan, progress)
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return {
    ok: true,
    workflow: plan.name,
    workflow_name: plan.title,
    workflow_file: plan.file,
    output_text: text,
    created_count: jobs.length,
    created_jobs: jobs,
    output,
    stdout: text
  }
}

async function createdJob ({ name, type, tool, queue, needs }: PlannedStep, { byName }: StepProgress): Promise<CreatedJob> {
  const state = byName.get(name)
  if (state?.state !== 'succeeded') throw new Error(`Step '${name}' has no output`)
  return { step_id: name, job_id: state.jobId, step: name, id: state.jobId, type, depends_on: needs, tool, queue, status: 'succeeded', output: await state.shownOutput() }
}

async function outputOf (plan: WorkflowPlan, progress: StepProgress): Promise<unknown> {
  if ('output' in plan) return substitute(plan.output, { params: plan.params, outputs: await createOutputs(progress)(plan.output) }, 'output')
  const last = progress.byName.get(plan.steps.at(-1)?.name ?? '')
  return last?.state === 'succeeded' ? await last.shownOutput() : null
}
