import { limits, withNumbers } from '@toolyard/contract/terms'
import { WorkspaceFailure, atPlace, openFile, readFully, type PathContext } from '@toolyard/workspace'
import { BuiltinFailure, ownerOfBuiltin, type BuiltinContext } from '../kit/handler.ts'

/** Reads YAML with bounded time and memory; given by the worker. */
export type ReadYaml = (text: string, options: { expansion: number, owner: string, signal: AbortSignal }) => Promise<Reading>

type Reading =
  | { ok: true, value: unknown, duplicates: ReadonlyArray<{ line: number }> }
  | { ok: false, fault: { message: string, line?: number } }

/** The directory of the workspace that workflow files may lie in. */
const room = 'workflows'

interface WorkflowFile {
  /** Where it was found, from the workspace. */
  path: string
  document: unknown
}

/**
 * Reads a workflow file of the workspace, at most 256 KiB: the path itself, else the same path below `workflows/`.
 *
 * @throws BuiltinFailure `workflow file not found: F`, or what is wrong with the file.
 */
export async function readWorkflowFile (context: BuiltinContext, path: string, readYaml: ReadYaml): Promise<WorkflowFile> {
  const found = await textOf(context, path) ?? await textOf(context, `${room}/${path}`)
  if (found === undefined) throw new BuiltinFailure(`workflow file not found: ${path}`)
  // Aliases make much of little. What comes of it is kept with the job, and read each time that a step has ended.
  const reading = await readYaml(found.text, { expansion: limits.bodyBytes, owner: ownerOfBuiltin(context), signal: context.signal })
  if (!reading.ok) throw new BuiltinFailure(`workflow file ${found.path}${at(reading.fault.line)}: ${reading.fault.message}`)
  const [double] = reading.duplicates
  if (double !== undefined) throw new BuiltinFailure(`workflow file ${found.path}${at(double.line)}: a key stands twice`)
  return { path: found.path, document: withNumbers(reading.value) }
}

/** Undefined when no such file is there. */
async function textOf (context: PathContext, path: string): Promise<{ path: string, text: string } | undefined> {
  const notFound = 'there is no such file'
  try {
    return await atPlace(context, path, { notFound }, async place => {
      const { handle, size } = openFile(place)
      try {
        if (size > limits.workflow.fileBytes) throw new BuiltinFailure(`workflow file ${path} is larger than ${limits.workflow.fileBytes} bytes`)
        return { path, text: (await readFully(handle, 0, size)).toString() }
      } finally {
        handle.close()
      }
    })
  } catch (error) {
    if (error instanceof WorkspaceFailure && error.message === notFound) return undefined
    throw error
  }
}

function at (line: number | undefined): string {
  return line === undefined ? '' : `, line ${line}`
}
