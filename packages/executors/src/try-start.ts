import { findOnPath, runProcess, shortageOf, type ProcessHost } from '@toolyard/sandbox'

/** A try to start a process may take so long, in milliseconds, and needs so much room for its input. */
const [tryMs, tryBytes] = [5_000, 1 << 20]

/**
 * Starts a process that does nothing, as those of tools are started: what the worker is out of, if that fails. In the box of a
 * tool, which takes more processes than one.
 */
export async function tryStart (path: string | undefined, host: ProcessHost): Promise<string | undefined> {
  const program = findOnPath('true', path)
  if (program === undefined) return undefined
  const { ending } = await runProcess({ program, args: [], env: {}, cwd: '/' }, {
    stdin: ' '.repeat(tryBytes), timeoutMs: tryMs, signal: new AbortController().signal, maxOutputBytes: 0, onLine: () => {}
  }, host)
  if (ending.kind === 'unstarted') return shortageOf(ending.error) ?? ending.error.message
  return ending.kind === 'timeout' ? `no process was started in ${tryMs / 1_000} s` : undefined
}
