import type { BuiltinDeclaration } from './declaration.ts'
import { listed } from './policy.ts'

export function toolExec (allowed: readonly string[] = []): BuiltinDeclaration {
  return {
    name: 'tool_exec',
    jobType: 'tool.exec',
    description: `Run a program in the workspace and return its stdout, stderr and exit code. There is no shell: pass each argument as one item of args. Allowed programs: ${listed(allowed)}.`,
    timeoutSec: 120,
    permissions: ['read_repo', 'write_files'],
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'One of the allowed programs, exactly as listed.' },
        args: { type: 'array', items: { type: 'string' }, maxItems: 100, description: 'The arguments, one item each.' },
        cwd: { type: 'string', description: 'Directory below the workspace to run in.' },
        timeout_ms: { type: 'integer', minimum: 100, maximum: 120_000 }
      },
      required: ['command'],
      additionalProperties: false
    }
  }
}
