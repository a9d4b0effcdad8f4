import { Socket } from 'node:net'
import type { PythonRun } from '@toolyard/manifests'
import { killDescendants, limitedPlan, signalGroup, startError, startOpen, terminate, type ProcessPlan } from '@toolyard/sandbox'
import type { Failure } from '../../run/outcome.ts'
import { hostPlan } from './host.ts'
import type { CallProcess } from './process-tree.ts'
import { moduleName } from './module-name.ts'

/**
 * Starts a Python for one call in the open: it imports the module itself, and is ended as commands are. What can't be imported is
 * told as the reply to the call.
 *
 * @param limit a command line that runs what follows it under the tool's own limits
 */
export async function startPlain (
  run: PythonRun, basis: Omit<ProcessPlan, 'args'>, limit: readonly string[] | undefined
): Promise<{ ok: true, process: CallProcess } | Failure> {
  const plan = hostPlan(basis, run.root, 3, moduleName(run.module), run.module, ...run.pin === undefined ? [] : [run.pin.file])
  try {
    const child = await startOpen(limitedPlan(plan, limit), '', true)
    const { pid, link, stdout, exited } = child
    if (!(link instanceof Socket) || !(stdout instanceof Socket)) throw new Error('A Python was started without its connections')
    for (const stream of [link, stdout]) stream.on('error', () => {})
    child.stderr.on('error', () => {}).resume()
    const process: CallProcess = {
      requests: link,
      replies: link,
      output: stdout,
      tree: {
        first: () => pid,
        born: async () => await Promise.resolve(pid),
        terminate: async () => await terminate({ child, box: undefined }),
        kill: async () => await killDescendants(pid),
        enter: async move => { await move(pid) },
        mayOutlive: () => signalGroup(pid, 0)
      },
      ended: exited,
      release: child.release
    }
    return { ok: true, process }
  } catch (error) {
    return { ok: false, error: await startError(plan, error) }
  }
}
