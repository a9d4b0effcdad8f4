import { Buffer } from 'node:buffer'
import { JsonText } from '../kit/handler.ts'
import type { PlannedStep, WorkflowPlan } from './plan.ts'
import type { Substitution } from './substitution.ts'
import type { StepProgress } from '../../run/steps.ts'

/** A step in the answer; long outputs are truncated, and whole at `GET /v1/jobs/:id`. */
interface CreatedJob {
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

/** When all steps have succeeded. */
interface WorkflowAnswer {
  ok: true
  workflow: string
  workflow_name: string
  workflow_file: string
  /** `output` as text; it comes first, as models are shown the beginning of a long answer. */
  output_text: string
  created_count: number
  created_jobs: CreatedJob[]
  /** The value of the workflow's `output`, else the output of its last step. */
  output: unknown
  /** `output_text` once more. */
  stdout: string
}

/** Makes the answer of a workflow whose steps have all succeeded: a `WorkflowAnswer`, as JSON, since outputs may be large. */
export async function workflowAnswer (plan: WorkflowPlan, progress: StepProgress, substitution: Substitution): Promise<JsonText> {
  const jobs: string[] = []
  for (const step of plan.steps) jobs.push(await createdJob(step, progress))
  const output = await outputOf(plan, progress, substitution)
  const whole = Buffer.from(output)
  const text = output.startsWith('"') ? whole : Buffer.from(JSON.stringify(output))
  const head: Pick<WorkflowAnswer, 'ok' | 'workflow' | 'workflow_name' | 'workflow_file'> = {
    ok: true, workflow: plan.name, workflow_name: plan.title, workflow_file: plan.file
  }
  return new JsonText(Buffer.concat([
    Buffer.from(`${open(head)},"output_text":`), text, Buffer.from(`,"created_count":${jobs.length},"created_jobs":[${jobs.join()}],"output":`),
    whole, Buffer.from(',"stdout":'), text, Buffer.from('}')
  ]))
}

async function createdJob ({ name, type, tool, queue, needs }: PlannedStep, { byName }: StepProgress): Promise<string> {
  const state = byName.get(name)
  if (state?.state !== 'succeeded') throw new Error(`Step '${name}' has no output`)
  const head: Omit<CreatedJob, 'output'> = { step_id: name, job_id: state.jobId, step: name, id: state.jobId, type, depends_on: needs, tool, queue, status: 'succeeded' }
  return `${open(head)},"output":${await state.shownOutput()}}`
}

/** JSON of an object, without its last brace. */
function open (head: object): string {
  return JSON.stringify(head).slice(0, -1)
}

async function outputOf (plan: WorkflowPlan, progress: StepProgress, substitution: Substitution): Promise<string> {
  if ('output' in plan) return await substitution(plan.output, 'output')
  const last = progress.byName.get(plan.steps.at(-1)?.name ?? '')
  return last?.state === 'succeeded' ? await last.shownOutput() : 'null'
}
