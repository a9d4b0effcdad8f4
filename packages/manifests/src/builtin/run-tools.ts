import { closedObject, type BuiltinDeclaration } from './declaration.ts'
import { listed } from './policy.ts'
import { queueNamePattern } from '@toolyard/contract/terms'

export function toolExec (allowed: readonly string[] = []): BuiltinDeclaration {
  return {
    name: 'tool_exec',
    jobType: 'tool.exec',
    description: `Run a program in the workspace and return its stdout, stderr and exit code. There is no shell: pass each argument as one item of args. Allowed programs: ${listed(allowed)}.`,
    timeoutSec: 120,
    permissions: ['read_repo', 'write_files'],
    parameters: closedObject({
      command: { type: 'string', minLength: 1, description: 'One of the allowed programs, exactly as listed.' },
      args: { type: 'array', items: { type: 'string' }, maxItems: 100, description: 'The arguments, one item each.' },
      cwd: { type: 'string', description: 'Directory below the workspace to run in.' },
      timeout_ms: { type: 'integer', minimum: 100, maximum: 120_000 }
    }, ['command'])
  }
}

/** Runs the steps of a workflow. A second run of the same job goes on where the first one was. */
export const workflowRun: BuiltinDeclaration = {
  name: 'workflow_run',
  jobType: 'workflow.run',
  description: 'Run a workflow of the workspace: a named list of tool calls that can use the outputs of earlier ones. Returns the output and the jobs that were made.',
  timeoutSec: 60,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: closedObject({
    workflow: { type: 'string', minLength: 1, description: 'Name of the workflow in the file.' },
    workflow_file: { type: 'string', minLength: 1, default: 'workflows.yaml', description: 'Path of the YAML file, from the workspace or from its directory workflows/.' },
    params: { type: 'object', description: 'Values for the parameters of the workflow.' },
    vars: { type: 'object', description: 'Another name for params.' },
    queue: { type: 'string', pattern: queueNamePattern, description: 'Queue of the steps; that of this call when left out.' }
  }, ['workflow'])
}
