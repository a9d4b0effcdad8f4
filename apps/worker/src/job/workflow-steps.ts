import { jobLimits, limits, permissions as everyPermission, withoutUndefined, type CallError } from '@toolyard/contract/terms'
import type { TraceContext } from '@toolyard/contract'
import type { StepProgress, StepStart, StepState, StepTarget, WorkflowSteps } from '@toolyard/executors'
import { admitCall, admitTool, makesJobs, ProgramDigests, type AskedCall, type Deployment, type HoldTerms, type RegisteredTool, toolOfCall, type Registry } from '@toolyard/manifests'
import { heldJob, QueueFullError, QueueLimitError, type TakenJob, type NewJob, type StepJobs, type StepOutput } from '@toolyard/queue'
import type { JobTypeTable } from '@toolyard/store'

interface WorkflowStepsDeps extends Deployment {
  registry: () => Registry
  jobTypes: JobTypeTable
  /** Execution timeout of tools that set none, in seconds. */
  toolTimeoutSec: number
  jobs: StepJobs
}

/** Tells steps from jobs that somebody submitted. */
const stepTag = 'workflow-step'

export function createStepsOf (deps: WorkflowStepsDeps): (job: TakenJob, trace: TraceContext | undefined) => WorkflowSteps {
  return (job, trace) => stepsOf(job, deps, trace)
}

function stepsOf (job: TakenJob, deps: WorkflowStepsDeps, trace: TraceContext | undefined): WorkflowSteps {
  const parent = { queue: job.queue, id: job.id, attempt: job.attempt }
  return {
    now: () => deps.jobs.now(),
    keep: make => deps.jobs.keep(parent, make),
    resolve: target => {
      const call = stepCall(target, job, deps)
      const admitted = nested(call) ?? admitTool(call, deps)
      if (admitted.kind === 'refused') return admitted.error
      const { name, jobType } = admitted.registered.tool
      return { tool: name, type: jobType, queue: call.queue }
    },
    progress: async names => {
      const [ids, states] = await Promise.all([deps.jobs.ids(parent, names), deps.jobs.states(parent)])
      const byName = new Map<string, StepState>()
      for (const [name, jobId] of ids) {
        const output = states.succeeded.get(jobId)
        const error = states.failed.get(jobId)
        if (output !== undefined) byName.set(name, succeeded(jobId, output, deps.jobs))
        else if (error !== undefined) byName.set(name, { state: 'failed', jobId, error })
        else if (states.pending.has(jobId)) byName.set(name, { state: 'pending', jobId })
        // A step whose job was not added yet has not been started.
      }
      return { byName, settled: states.succeeded.size + states.failed.size } satisfies StepProgress
    },
    personWaits: () => deps.jobs.personWaits(parent),
    start: async step => {
      const call = stepCall(step, job, deps)
      const { keyName, tenant = '', session = '', conversation = '' } = job.data
      const key = { name: keyName, role: 'admin', permissions: job.data.access?.permissions ?? everyPermission }
      const admitted = nested(call) ?? await admitCall({ ...call, asks: { key, tenant, session, conversation } }, step.arguments, deps)
      if (admitted.kind === 'refused') return admitted.error
      const { hold, registered } = admitted
      const make = async (id: string): Promise<NewJob> => {
        const made = stepJob(id, { ...step, arguments: admitted.arguments }, registered, job, deps)
        const { origin } = job.data
        if (origin !== undefined) made.data.origin = { request: origin.request, ...trace }
        return hold === undefined ? made : await stepToHold(made, hold, registered, job)
      }
      try {
        return await deps.jobs.add(parent, { step: step.name, queue: step.queue }, make)
      } catch (error) {
        if (error instanceof QueueLimitError || error instanceof QueueFullError) return { code: 'QUEUE_FULL', message: error.message }
        throw error
      }
    },
    cancel: () => deps.jobs.cancel(parent)
  }
}

/** A step asks with what the key of its workflow may use. */
function stepCall (
  { tool, type, queue }: StepTarget, { queue: ownQueue, data: { access = {}, tenant } }: TakenJob, deps: WorkflowStepsDeps
): AskedCall & { queue: string } {
  const registry = deps.registry()
  const registered = tool === undefined ? registry.ofType(type ?? '') : registry.get(tool)
  return { tool, type, registered, queue: queue ?? ownQueue, key: { ...access, tenant } }
}

const programs = new ProgramDigests()

/** It is approved as every call is; what its key may do is what that might when it submitted the workflow. */
async function stepToHold (made: NewJob, hold: HoldTerms, { tool, entry }: RegisteredTool, { data: { keyPart = '' } }: TakenJob): Promise<NewJob> {
  return heldJob(made, hold, { entry, program: await programs.of(tool, made.data.arguments), key: keyPart })
}

function nested ({ registered }: AskedCall): { kind: 'refused', error: CallError } | undefined {
  return registered !== undefined && makesJobs(registered.tool) ? { kind: 'refused', error: { code: 'NOT_ALLOWED', message: 'a workflow does not run a workflow' } } : undefined
}

function succeeded (jobId: string, output: StepOutput, jobs: StepJobs): StepState {
  return { state: 'succeeded', jobId, output: () => jobs.output(jobId, output), shownOutput: () => jobs.shownOutput(jobId, output) }
}

function stepJob (id: string, step: StepStart, { tool, version }: RegisteredTool, job: TakenJob, deps: WorkflowStepsDeps): NewJob {
  // A plan of a release before has no wishes.
  const { wishes = {} } = step as Partial<StepStart>
  const { tenant, session, keyPermissions, keyHosts } = job.data
  const { timeoutSec, maxAttempts } = jobLimits({
    asked: wishes,
    override: deps.jobTypes.get(tool.jobType),
    tool: toolOfCall(tool, step.arguments),
    toolTimeoutSec: deps.toolTimeoutSec
  })
  return {
    id,
    type: tool.jobType,
    data: {
      tool: tool.name,
      version,
      arguments: step.arguments,
      timeoutSec: Math.min(timeoutSec, Math.max(0.001, step.timeoutMs / 1_000)),
      tags: [...job.data.tags, ...wishes.tags ?? [], stepTag].slice(-limits.tags.max),
      keyName: job.data.keyName,
      ...withoutUndefined({ tenant, session, keyPermissions, keyHosts }),
      ...(tool.serial === true ? { serial: true as const } : {})
    },
    priority: wishes.priority ?? job.priority,
    maxAttempts
  }
}
