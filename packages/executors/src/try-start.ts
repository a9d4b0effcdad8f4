import { findOnPath, shortageOf, startDeadline, startError, startOpen, type Launcher } from '@toolyard/sandbox'

/** A try to start a process may take so long, in milliseconds, and needs so much room for its input. */
const [tryMs, tryBytes] = [5_000, 1 << 20]

/** Starts a process that does nothing, through a launcher or in the open: what the worker is out of, if that fails. */
export async function tryStart (path: string | undefined, launcher: Launcher | undefined): Promise<string | undefined> {
  const program = findOnPath('true', path)
  if (program === undefined) return undefined
  const deadline = startDeadline(tryMs, new AbortController().signal)
  const plan = { program, args: [], env: {}, cwd: '/' }
  const stdin = ' '.repeat(tryBytes)
  try {
    const { interrupted } = deadline
    const child = await (launcher === undefined ? startOpen(plan, stdin) : launcher.launch({ plan, stdin, files: [], interrupted }))
    await child.exited
    child.release()
    return undefined
  } catch (error) {
    const fault = await startError(plan, error)
    return shortageOf(fault) ?? fault.message
  } finally {
    deadline.clear()
  }
}
