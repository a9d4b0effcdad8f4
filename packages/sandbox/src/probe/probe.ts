import { isRecord, orElse } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Launcher } from '../process/launch/child.ts'
import { createPins } from '../process/plan/pins.ts'
import { processIds } from '../process/table/process-table.ts'
import { runProcess, type ProcessEnd } from '../process/run-process.ts'
import { createBox } from '../box/box.ts'
import type { BoxFoundation } from '../box/foundation.ts'
import { defaultLimits } from '../box/limits.ts'
import { boxLayers, type LayerFinding } from '../box/report.ts'
import { layTargets } from './canary-targets.ts'

const canary = fileURLToPath(new URL('canary.js', import.meta.url))
/** It says that the canary is a module. */
const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url))
const timeoutMs = 20_000
const outputBytes = 65_536

/** Runs a canary in a box with no permission but to read the workspace, and says which layers held it. */
export async function probeBox (foundation: BoxFoundation, launcher: Launcher, env: NodeJS.ProcessEnv): Promise<LayerFinding[]> {
  const targets = await layTargets(foundation.workspaceDir, foundation.hidden)
  try {
    const hidden = [...foundation.hidden, ...targets.hidden]
    const box = createBox({ ...foundation, hidden }, { permissions: ['read_repo'], readable: [targets.task.tools], limits: defaultLimits })
    const plan = { program: process.execPath, args: [canary], env: { PATH: env['PATH'] ?? '' }, cwd: foundation.workspaceDir, readable: [dirname(canary), packageFile] }
    const lines: string[] = []
    const end = await runProcess(plan, {
      stdin: JSON.stringify(targets.task),
      timeoutMs,
      signal: new AbortController().signal,
      maxOutputBytes: outputBytes,
      onLine: line => {
        lines.push(line)
        if (line === targets.task.replaced) targets.replace()
      }
    }, { launcher, pins: createPins(), onSurvivors: () => {}, box })
    return findingsOf(end, lines, isRunning(targets.task.sleepSeconds))
  } finally {
    await targets.remove()
  }
}

function findingsOf ({ ending, stdout }: ProcessEnd, lines: readonly string[], leftBehind: boolean): LayerFinding[] {
  const reached = ending.kind === 'exit' && ending.code === 0 ? jsonOf(stdout.kept.toString('utf8')) : undefined
  if (!isRecord(reached)) return [{ layer: 'bubblewrap', holds: false, detail: lines.find(line => line.startsWith('bwrap: ')) ?? 'the canary did not run' }]
  if (leftBehind) reached['descendants'] = 'left a process behind'
  return boxLayers.map(layer => {
    const said = reached[layer]
    return { layer, holds: said === undefined, detail: typeof said === 'string' ? said : 'holds' }
  })
}

function isRunning (sleepSeconds: string): boolean {
  return processIds().some(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(sleepSeconds), false))
}

/** Undefined where the canary printed no JSON. */
function jsonOf (text: string): unknown {
  return orElse<unknown, undefined>(() => JSON.parse(text), undefined)
}
