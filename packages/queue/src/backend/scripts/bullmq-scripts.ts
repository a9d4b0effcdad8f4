import { isRecord } from '@toolyard/contract/terms'
import { load } from '../../record/bullmq.ts'

/** A script of BullMQ: its Lua, and how many keys it takes. */
export interface BullmqScript {
  content: string
  keys: number
}

export function bullmqScript (name: string): BullmqScript {
  const scripts: unknown = load('bullmq/dist/cjs/scripts/index.js')
  const script = isRecord(scripts) ? scripts[name] : undefined
  if (!isScript(script)) throw new Error(`BullMQ has no script '${name}'`)
  return script
}

/**
 * A script without what it adds to the stream of the queue's events. Nobody here reads that: it costs a fifth of a
 * script's time, and the outputs of tools would be in it, and in the file that Redis appends to, once more.
 *
 * @throws Error where there is nothing to leave out: it isn't the script that this was made for.
 */
export function withoutEvents (content: string): string {
  const patched = content.replaceAll(/rcall\("(XADD|XTRIM)"/g, 'untold("$1"')
  if (patched === content) throw new Error('A patch of one of BullMQ\'s scripts replaces nothing')
  return `local function untold () end\n${patched}`
}

function isScript (value: unknown): value is BullmqScript {
  return isRecord(value) && typeof value['content'] === 'string' && typeof value['keys'] === 'number'
}
