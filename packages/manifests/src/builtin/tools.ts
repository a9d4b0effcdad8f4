import type { Tool } from '../tool/tool.ts'
import { callTool, searchTools } from './catalogue-tools.ts'
import type { BuiltinDeclaration } from './declaration.ts'
import type { BuiltinPolicy } from './policy.ts'
import { jobCancel, jobResult } from './job-tools.ts'
import { outputRead, outputSearch } from './output-tools.ts'
import { toolExec, workflowRun } from './run-tools.ts'
import { toolsFileSearch, toolsFindInFiles } from './search-tools.ts'
import { dataFetch, toolsWebSearch } from './web-tools.ts'
import { dataFileRead, dataWriteFile, workspaceDelete, workspaceList, workspaceMove, workspaceStat } from './workspace-tools.ts'

/**
 * The tools that a worker runs itself, or the API, in the order of publication. What the policy doesn't allow is
 * disabled, not absent: invoking it is told so.
 */
export function builtinTools (policy: BuiltinPolicy = {}): Tool[] {
  return declarations(policy).map(({ declaration: { idempotent = false, action, ...declaration }, enabled }, index) => ({
    ...declaration,
    enabled,
    // A job type can be switched on while the service runs; what the policy doesn't allow still can't run then.
    ...(enabled ? {} : { unavailable: 'the settings of this deployment do not allow it' }),
    idempotent,
    source: { format: 'builtin', file: 'builtin', index },
    run: action === undefined ? { kind: 'builtin' } : { kind: 'service', action }
  }))
}

function declarations (
  { exec, fetch, webSearch, workspaceDelete: deleting = false }: BuiltinPolicy
): Array<{ declaration: BuiltinDeclaration, enabled: boolean }> {
  const always = [
    dataFileRead, toolsFileSearch, dataWriteFile, toolsFindInFiles, workflowRun, workspaceList, workspaceStat, workspaceMove,
    jobResult, jobCancel, outputRead, outputSearch, searchTools, callTool
  ]
  return [
    ...always.map(declaration => ({ declaration, enabled: true })),
    { declaration: workspaceDelete, enabled: deleting },
    { declaration: toolExec(exec?.allowlist), enabled: exec !== undefined },
    { declaration: dataFetch(fetch?.allowlist), enabled: fetch !== undefined },
    { declaration: toolsWebSearch, enabled: webSearch !== undefined }
  ]
}
