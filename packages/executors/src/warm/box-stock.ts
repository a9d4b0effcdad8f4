import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Tool } from '@toolyard/manifests'
import { planInNetwork, type Box, type BoxNetwork, type Pins, type ProcessPlan } from '@toolyard/sandbox'
import type { SessionPlace } from '../run/outcome.ts'
import type { Sandbox } from '../run/sandbox.ts'
import type { WorkerHost } from '../run/tool-call.ts'
import { WarmPool } from './pool.ts'
import { inGroup, type CallOfReady, type Served } from './served.ts'
import type { WarmTool } from './slot.ts'
import { startWaitingBox } from './waiting-box.ts'

/** Memory that boxes may take which wait for the next call of what was called, in bytes. */
export interface StockLimits {
  maxBytes: number
}

/** How long a box waits until another one takes its place, in milliseconds. */
const maxIdleMs = 60_000

/**
 * Boxes that are made ahead, for what was called in the last five minutes. Boxes of the same line, with the same files in
 * it, in the same network, are alike: whose turn comes takes one, and no box serves two calls. What differs from call to call
 * (the program, its variables, the call's name at the proxy) comes with the order.
 */
interface BoxStock {
  /** A call of any tool begins; what is returned is to be called when it has ended. */
  began (): () => void
  /** Undefined for calls whose box depends on more than their line. */
  ready (tool: Tool, call: CallOfReady): ((plan: ProcessPlan, stdin: string) => Promise<Served['start'] | undefined>) | undefined
  /** Ends the boxes in a network, which no call uses any more. */
  endNetwork (key: string): void
  waiting (): number
  close (): Promise<void>
}

export function createBoxStock (worker: WorkerHost, sandbox: Sandbox, { maxBytes }: StockLimits): BoxStock {
  const pool = new WarmPool<Served>({
    maxBytes, maxIdleMs, spare: availableParallelism() - 1, now: () => performance.now(), onUnfit: () => {}
  })

  function kept (plan: ProcessPlan, { tool, session, network, key }: BoxOf): WarmTool<Served> {
    const boxNow = (): Box => {
      const box = sandbox.boxOf(tool, session, network)
      if (box === undefined) throw new Error('the tool runs in the open')
      return box
    }
    return {
      warm: 'auto',
      fingerprint: async () => await keyOf(plan, { box: boxNow(), network }, worker.pins) === key ? key : undefined,
      async start (signal) {
        const group = tool.limits === undefined ? undefined : sandbox.groups?.groupOf(tool.limits, 'box')
        const { launcher, pins } = worker
        return await inGroup(group, await startWaitingBox(plan, { launcher, pins, box: boxNow(), group }, signal))
      }
    }
  }

  return {
    began: () => pool.began(''),
    ready (tool, { box, network, context, onGroup, onEnd }) {
      if (box?.lineAhead === undefined) return undefined
      return async (plan, stdin) => {
        if (plan.handed !== undefined && plan.handed.length > 0) return undefined
        if (!pool.mayServe()) return undefined
        const key = await keyOf(plan, { box, network }, worker.pins).catch(() => undefined)
        if (key === undefined) return undefined
        onEnd(pool.use(key, kept(plan, { tool, session: context.session, network: network && { ...network, variables: {} }, key })))
        const own = { plan: planInNetwork(plan, network), stdin }
        const served = await pool.take(key, async () => await Promise.resolve(key), own, context.log)
        if (served?.group !== undefined) onGroup(served.group)
        return served?.start
      }
    },
    endNetwork (key) { pool.forget(name => name.startsWith(inNetwork(key))) },
    waiting: () => pool.waiting(),
    close: async () => { await pool.close() }
  }
}

interface BoxOf {
  tool: Tool
  session: SessionPlace | undefined
  /** Without what is of one call. */
  network: BoxNetwork | undefined
  key: string
}

/** A network has a key of its own, which no later one gets. */
async function keyOf (
  plan: ProcessPlan, { box, network }: { box: Box, network: BoxNetwork | undefined }, pins: Pins
): Promise<string | undefined> {
  const fingerprint = await fingerprintOf(plan, box, pins)
  return fingerprint === undefined || network === undefined ? fingerprint : `${inNetwork(network.key)}${fingerprint}`
}

function inNetwork (key: string): string {
  return `${key}: `
}

/** The line of a box, and which directories and files it shows: what was put in the place of one is another. */
async function fingerprintOf (plan: ProcessPlan, box: Box, pins: Pins): Promise<string | undefined> {
  const pinned = plan.pin === undefined ? undefined : await pins.check(plan.pin)
  if (plan.pin !== undefined && pinned === undefined) return undefined
  const line = box.lineAhead?.(plan, pinned?.copy)
  if (line === undefined) return undefined
  const shown = line.args.flatMap((word, index) => /^--(?:ro-)?bind(?:-try)?$/.test(word) ? [identityAt(line.args[index + 1] ?? '')] : [])
  return createHash('sha256').update(JSON.stringify([line.program, line.args, shown])).digest('base64')
}

function identityAt (path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev}:${found.ino}`
}
