import { limits } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../handler.ts'
import { openFile, readFully } from '../workspace/open-file.ts'
import { atPlace } from '../workspace/place.ts'

/** Reads YAML with bounded time and memory; given by the worker. */
export type ReadYaml = (text: string) => Promise<{ ok: true, value: unknown, duplicates: ReadonlyArray<{ line: number }> } | { ok: false, fault: { message: string, line?: number } }>

/**
 * Reads a workflow file of the workspace (RC43), at most 256 KiB.
 *
 * @throws BuiltinFailure `workflow file not found: F`, or what is wrong with the file.
 */
export async function readWorkflowFile (workspaceDir: string, path: string, readYaml: ReadYaml): Promise<unknown> {
  const text = await atPlace(workspaceDir, path, { notFound: `workflow file not found: ${path}` }, async place => {
    const { handle, size } = openFile(place)
    try {
      if (size > limits.workflow.fileBytes) throw new BuiltinFailure(`workflow file ${path} is larger than ${limits.workflow.fileBytes} bytes`)
      return (await readFully(handle, 0, size)).toString()
    } finally {
      handle.close()
    }
  })
  const reading = await readYaml(text)
  if (!reading.ok) throw new BuiltinFailure(`workflow file ${path}${at(reading.fault.line)}: ${reading.fault.message}`)
  const [double] = reading.duplicates
  if (double !== undefined) throw new BuiltinFailure(`workflow file ${path}${at(double.line)}: a key stands twice`)
  return reading.value
}

function at (line: number | undefined): string {
  return line === undefined ? '' : `, line ${line}`
}
