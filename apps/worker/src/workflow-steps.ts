import { jobLimits, limits, permissionsBeyond, type CallError, type PermissionPolicy } from '@toolyard/contract/terms'
import type { StepProgress, StepStart, StepState, StepTarget, WorkflowSteps } from '@toolyard/executors'
import type { RegisteredTool, Registry } from '@toolyard/manifests'
import { QueueFullError, QueueLimitError, type ClaimedJob, type JobTypeTable, type NewJob, type StepJobs, type StepOutput } from '@toolyard/queue'

/** What steps are checked against and made with. */
export interface WorkflowStepsDeps {
  registry: () => Registry
  jobTypes: JobTypeTable
  permissions: PermissionPolicy
  /** Execution timeout of tools that set none, in seconds. */
  toolTimeoutSec: number
  jobs: StepJobs
}

const workflowType = 'workflow.run'
/** Tells steps from jobs that somebody submitted. */
const stepTag = 'workflow-step'

/** Makes the function that gives the job of a workflow its steps. */
export function createStepsOf (deps: WorkflowStepsDeps): (job: ClaimedJob) => WorkflowSteps {
  return job => stepsOf(job, deps)
}

function stepsOf (job: ClaimedJob, deps: WorkflowStepsDeps): WorkflowSteps {
  const parent = { queue: job.queue, id: job.id, attempt: job.attempt }
  return {
    now: () => deps.jobs.now(),
    keep: make => deps.jobs.keep(parent, make),
    resolve: target => {
      const registered = find(target, deps.registry())
      const queue = target.queue ?? job.queue
      return registered === undefined ? unknown(target) : refusal(registered, queue, job, deps) ?? { tool: registered.tool.name, type: registered.tool.jobType, queue }
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
    start: async step => {
      const registered = deps.registry().get(step.tool)
      if (registered === undefined) return unknown(step)
      const refused = refusal(registered, step.queue, job, deps)
      if (refused !== undefined) return refused
      const checked = registered.validate(step.arguments)
      if (!checked.ok) return { code: 'INVALID_ARGUMENTS', message: `the arguments do not fit the schema: ${checked.issues.map(issue => `${issue.path} ${issue.message}`).join('; ')}`, details: { issues: checked.issues } }
      const id = await deps.jobs.assign(parent, step.name)
      try {
        await deps.jobs.add(parent, step.queue, stepJob(id, { ...step, arguments: checked.arguments }, registered, job, deps))
        return id
      } catch (error) {
        if (error instanceof QueueLimitError || error instanceof QueueFullError) return { code: 'QUEUE_FULL', message: error.message }
        throw error
      }
    },
    cancel: () => deps.jobs.cancel(parent)
  }
}

function find ({ tool, type }: StepTarget, registry: Registry): RegisteredTool | undefined {
  return tool === undefined ? registry.all().find(registered => registered.tool.jobType === type) : registry.get(tool)
}

function unknown ({ tool, type }: StepTarget): CallError {
  return { code: 'UNKNOWN_TOOL', message: tool === undefined ? `no tool has the job type '${type}'` : `Tool '${tool}' not found in registry` }
}

/** Why the key of the workflow, or anybody, may not run a tool in a queue (B31). */
function refusal ({ tool }: RegisteredTool, queue: string, { data: { access = {} } }: ClaimedJob, deps: WorkflowStepsDeps): CallError | undefined {
  if (tool.jobType === workflowType) return { code: 'NOT_ALLOWED', message: 'a workflow does not run a workflow' }
  if (!(deps.jobTypes.get(tool.jobType).enabled ?? tool.enabled)) return { code: 'JOB_TYPE_DISABLED', message: `Job type '${tool.jobType}' is disabled` }
  if (tool.unavailable !== undefined) return { code: 'TOOL_UNAVAILABLE', message: `Tool '${tool.name}' can't run: ${tool.unavailable}` }
  if (access.queues?.includes(queue) === false) return { code: 'FORBIDDEN', message: `Queue '${queue}' is not allowed for this API key.`, details: { allowed_queues: access.queues } }
  const beyond = permissionsBeyond(tool.permissions, deps.permissions, access.permissions)
  if (beyond.length > 0) return { code: 'FORBIDDEN', message: `Tool '${tool.name}' needs permissions that are not allowed: ${beyond.join(', ')}`, details: { permissions: beyond } }
  return undefined
}

function succeeded (jobId: string, output: StepOutput, jobs: StepJobs): StepState {
  return { state: 'succeeded', jobId, output: () => jobs.output(jobId, output), shownOutput: () => jobs.shownOutput(jobId, output) }
}

function stepJob (id: string, step: StepStart, { tool, version }: RegisteredTool, job: ClaimedJob, deps: WorkflowStepsDeps): NewJob {
  // A plan of a release before has no wishes.
  const { wishes = {} } = step as Partial<StepStart>
  const { timeoutSec, maxAttempts } = jobLimits({
    asked: wishes,
    override: deps.jobTypes.get(tool.jobType),
    tool: { isBuiltin: tool.source.format === 'builtin', ...(tool.timeoutSec === undefined ? {} : { timeoutSec: tool.timeoutSec }) },
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
      ...(job.data.keyPermissions === undefined ? {} : { keyPermissions: job.data.keyPermissions }),
      ...(tool.serial === true ? { serial: true as const } : {})
    },
    priority: wishes.priority ?? job.priority,
    maxAttempts
  }
}
