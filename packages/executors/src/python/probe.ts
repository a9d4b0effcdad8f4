import { fileURLToPath } from 'node:url'
import { toolEnvironment } from '../command/environment.ts'
import { createMarks } from '../process/mark.ts'
import type { HostBox } from '../sandbox/host-box.ts'
import type { LayerFinding } from '../sandbox/report.ts'
import { createHosts } from './hosts.ts'
import { Threads } from '../threads/threads.ts'
import { runPython } from './run-python.ts'

const root = fileURLToPath(new URL('../../python/probe', import.meta.url))
const timeoutMs = 30_000

/**
 * Runs a Python tool as any other in the box of a host, and says whether its call was shut in. A machine without a
 * Python lacks nothing: its Python tools are unavailable.
 */
export async function probePython (box: HostBox, env: NodeJS.ProcessEnv, workspaceDir: string): Promise<LayerFinding> {
  const hosts = createHosts({ env: toolEnvironment([], env).variables, workspaceDir, marks: createMarks(), onSurvivors: () => {}, onHostEnd: () => {}, groupMembers: [] })
  try {
    const outcome = await runPython(
      { name: 'canary', description: '' },
      { kind: 'python', root, module: 'canary', config: {}, strictOutputs: false },
      {},
      { jobId: 'probe', timeoutMs, signal: new AbortController().signal, log: () => {} },
      { hosts, box, workspaceDir, maxOutputBytes: 65_536, audit: { record: () => {}, flush: async () => { await Promise.resolve() } }, threads: new Threads(), checkOutput: () => undefined, onSurvivors: () => {} }
    )
    if (!outcome.ok) return { layer: 'python', holds: isMissing(outcome.error.message), detail: outcome.error.message }
    const reached = outcome.output as string[]
    return { layer: 'python', holds: reached.length === 0, detail: reached.join(', ') || 'holds' }
  } finally {
    await hosts.close()
  }
}

/** What `findInterpreter` says. */
function isMissing (message: string): boolean {
  return message === 'python3 is not installed' || message.includes('but tools need')
}
