import { availableParallelism } from 'node:os'
import type { Tool } from '@toolyard/manifests'
import { type Started, type Box, type ProcessPlan, defaultLimits } from '@toolyard/sandbox'
import type { Sandbox } from '../run/sandbox.ts'
import type { WorkerHost } from '../run/tool-call.ts'
import { fingerprintOf } from '../warm/fingerprint.ts'
import { WarmPool } from '../warm/pool.ts'
import type { Ready, Unfit, WarmTool } from '../warm/slot.ts'
import { inGroup, type CallOfReady, type Served } from '../warm/served.ts'
import { startWaiting } from '../warm/waiting-process.ts'
import { commandPlan } from './command-plan.ts'

export interface WarmLimits {
  /** Memory of all of them, in bytes. */
  maxBytes: number
  /** How long one waits until another takes its place, in milliseconds. */
  maxIdleMs: number
}

type TakeReady = (plan: ProcessPlan, stdin: string) => Promise<Started | undefined>

interface WarmCommands {
  /** Says which tools there are from now on. */
  keep (tools: readonly Tool[]): void
  /** A call of any tool begins; what is returned is to be called when it has ended. */
  began (name: string): () => void
  /**
   * Takes a process for a call; undefined for calls whose process depends on more than their tool: in the open,
   * in a session, in a trace, with an answer, with secrets.
   */
  ready (tool: Tool, call: CallOfReady): TakeReady | undefined
  waiting (name: string): number
  close (): Promise<void>
}

/** Makes the pool of one worker; there are processes only for tools that run in a box. */
export function createWarmCommands (worker: WorkerHost, sandbox: Sandbox, limits: WarmLimits): WarmCommands {
  const pool = new WarmPool<Served>({
    ...limits,
    spare: availableParallelism() - 1,
    now: () => performance.now(),
    onUnfit: (tool, reason) => { worker.logger?.warn({ tool, reason }, 'a tool cannot be kept warm: it is served cold') }
  })
  return {
    keep (tools) {
      const warm = tools.filter(tool => tool.enabled && tool.run.kind === 'command' && tool.network === undefined && tool.secrets === undefined && tool.warm !== undefined && tool.warm !== 0 && sandbox.boxOf(tool) !== undefined)
      pool.keep(new Map(warm.map(tool => [tool.name, { tool: warmTool(tool, worker, sandbox), digest: JSON.stringify(tool) }])))
    },
    began: name => pool.began(name),
    ready (tool, { box, context, onGroup }) {
      const { session, answers, variables, trace } = context
      const isOwn = [session, answers, variables, tool.network].some(each => each !== undefined)
      const depends = isOwn || Object.keys(trace?.variables ?? {}).length > 0
      if (box === undefined || depends) return undefined
      return async (plan, stdin) => {
        const served = await pool.take(tool.name, async () => await fingerprintOf(plan, box, worker.pins), { plan, stdin }, context.log)
        if (served?.group !== undefined) onGroup(served.group)
        return served?.start
      }
    },
    waiting: name => pool.waiting(name),
    close: async () => { await pool.close() }
  }
}

function warmTool (tool: Tool, worker: WorkerHost, sandbox: Sandbox): WarmTool<Served> {
  /** Seconds of processor time that a start takes: the limit of a call is counted from its beginning. */
  let startSec = 1
  const boxOf = (limits: Tool['limits']): Box => {
    const box = sandbox.boxOf({ ...tool, ...(limits === undefined ? {} : { limits }) })
    if (box === undefined) throw new Error('the tool runs in the open')
    return box
  }
  const planOf = (): ProcessPlan => {
    if (tool.run.kind !== 'command') throw new Error('the tool is no command')
    return commandPlan(tool.run, worker).plan
  }

  async function start (signal: AbortSignal): Promise<Ready<Served> | Unfit> {
    const cpuSec = (tool.limits?.cpuSec ?? defaultLimits.cpuSec) + startSec
    const group = tool.limits === undefined ? undefined : sandbox.groups?.groupOf(tool.limits, 'box')
    const { launcher, pins } = worker
    const box = boxOf({ ...tool.limits, cpuSec })
    const waiting = await startWaiting(planOf(), { launcher, pins, box, group }, signal)
    const ready = await inGroup(group, waiting)
    if (waiting.kind === 'unfit' || ready.kind === 'unfit' || waiting.cpuSec <= startSec) return ready
    startSec = Math.ceil(waiting.cpuSec)
    await ready.end()
    return await start(signal)
  }

  return { warm: tool.warm ?? 0, fingerprint: async () => await fingerprintOf(planOf(), boxOf(tool.limits), worker.pins), start }
}
