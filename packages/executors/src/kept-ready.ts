import type { Tool } from '@toolyard/manifests'
import type { CallGroup, ProcessHost } from '@toolyard/sandbox'
import type { ExecutorOptions } from './executor-options.ts'
import { createBoxStock } from './warm/box-stock.ts'
import type { WorkerHost } from './run/tool-call.ts'
import type { CallOfReady } from './warm/served.ts'
import { createWarmCommands } from './command/warm-commands.ts'

/** The kept process or box that one call takes, and the work behind it. */
interface KeptForCall {
  ready: NonNullable<ProcessHost['ready']>
  /** Bounds of what it took, to be removed. */
  groups: readonly CallGroup[]
  ended: () => void
}

/** Processes of commands that ask for it, and boxes, kept ready for calls. */
export interface KeptReady {
  keep (tools: readonly Tool[]): void
  begin (tool: Tool, call: Pick<CallOfReady, 'box' | 'network' | 'context'>): KeptForCall
  /** Ends the boxes in a network, which no call uses any more. */
  endNetwork (key: string): void
  /** Processes of a tool; without a name, boxes. */
  waiting (name?: string): number
  close (): Promise<void>
}

export function createKeptReady (worker: WorkerHost, { sandbox, warm: warmLimits, stock: stockLimits }: ExecutorOptions): KeptReady {
  const warm = sandbox === undefined || warmLimits === undefined ? undefined : createWarmCommands(worker, sandbox, warmLimits)
  const stock = sandbox === undefined || stockLimits === undefined ? undefined : createBoxStock(worker, sandbox, stockLimits)
  return {
    keep (tools) { warm?.keep(tools) },
    begin (tool, { box, network, context }) {
      const groups: CallGroup[] = []
      const ends = [warm?.began(tool.name), stock?.began()]
      const call: CallOfReady = { box, network, context, onGroup: group => { groups.push(group) }, onEnd: end => { ends.unshift(end) } }
      const takes = [warm?.ready(tool, call), stock?.ready(tool, call)].filter(take => take !== undefined)
      return {
        async ready (plan, stdin) {
          for (const take of takes) {
            const taken = await take(plan, stdin)
            if (taken !== undefined) return taken
          }
          return undefined
        },
        groups,
        ended () { for (const end of ends) end?.() }
      }
    },
    endNetwork (key) { stock?.endNetwork(key) },
    waiting: name => (name === undefined ? stock?.waiting() : warm?.waiting(name)) ?? 0,
    close: async () => { await Promise.all([warm?.close(), stock?.close()]) }
  }
}
