import { queueNamePattern } from '@toolyard/contract/terms'
import type { BuiltinDeclaration } from './declaration.ts'

/** Runs the steps of a workflow. A second run of the same job goes on where the first one was. */
export const workflowRun: BuiltinDeclaration = {
  name: 'workflow_run',
  jobType: 'workflow.run',
  description: 'Run a workflow of the workspace: a named list of tool calls that can use the outputs of earlier ones. Returns the output and the jobs that were made.',
  timeoutSec: 60,
  idempotent: true,
  permissions: ['read_repo'],
  parameters: {
    type: 'object',
    properties: {
      workflow: { type: 'string', minLength: 1, description: 'Name of the workflow in the file.' },
      workflow_file: { type: 'string', minLength: 1, default: 'workflows.yaml', description: 'Path of the YAML file, from the workspace or from its directory workflows/.' },
      params: { type: 'object', description: 'Values for the parameters of the workflow.' },
      vars: { type: 'object', description: 'Another name for params.' },
      queue: { type: 'string', pattern: queueNamePattern, description: 'Queue of the steps; that of this call when left out.' }
    },
    required: ['workflow'],
    additionalProperties: false
  }
}
