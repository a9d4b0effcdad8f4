import { fileURLToPath } from 'node:url'
import type { Outcome } from '../../run/outcome.ts'
import { type HostBox, type LayerFinding } from '@toolyard/sandbox'
import { createThreads } from '../../run/create-threads.ts'
import { layPythonTargets, type PythonTargets } from './probe-targets.ts'
import { runPython } from '../call/run-python.ts'
import { createTryHosts } from './try-module.ts'

const canary = fileURLToPath(new URL('../../../python/probe/canary.py', import.meta.url))
const timeoutMs = 30_000

/**
 * Runs a Python tool as any other in the box of a host, and says whether its import and its call were shut in. Its root
 * and its workspace hold files of a service, some of which are replaced while the host runs. A machine without a Python lacks nothing: its
 * Python tools are unavailable.
 *
 * @param boxFor the box of a try with this workspace, which hides these files as well
 */
export async function probePython (boxFor: (targets: Pick<PythonTargets, 'workspace' | 'hidden'>) => HostBox, env: NodeJS.ProcessEnv): Promise<LayerFinding> {
  const targets = await layPythonTargets(canary)
  const box = boxFor(targets)
  const workspaceDir = targets.workspace
  const hosts = createTryHosts(env, workspaceDir)
  const call = async (): Promise<Outcome> => await runPython({ kind: 'python', root: targets.root, module: 'canary', config: {}, strictOutputs: false }, {
    tool: { name: 'canary', description: '' },
    args: { secrets: targets.hidden },
    context: { jobId: 'probe', timeoutMs, signal: new AbortController().signal, log: () => {} },
    audit: { record: () => {}, flush: async () => { await Promise.resolve() } },
    maxOutputBytes: 65_536,
    filesDir: workspaceDir,
    worker: { workspaceDir, threads: createThreads(), onSurvivors: () => {} }
  }, { hosts, box, checkOutput: async () => { await Promise.resolve(); return undefined } })
  try {
    const first = await call()
    if (!first.ok) return { layer: 'python', holds: isMissing(first.error.message), detail: first.error.message }
    targets.replace()
    const second = await call()
    if (!second.ok) return { layer: 'python', holds: false, detail: second.error.message }
    const reached = [...new Set([first, second].flatMap(({ output }) => Array.isArray(output) ? output.map(String) : [String(output)]))]
    return { layer: 'python', holds: reached.length === 0, detail: reached.join(', ') || 'holds' }
  } finally {
    await hosts.close()
    await targets.remove()
  }
}

/** The message of `findInterpreter`. */
function isMissing (message: string): boolean {
  return message === 'python3 is not installed' || message.includes('but tools need')
}
