import { isRecord } from '@toolyard/contract/terms'
import { createHash } from 'node:crypto'
import { load } from '../../record/bullmq.ts'

/** A script of BullMQ: its Lua, and how many keys it takes. */
export interface BullmqScript {
  content: string
  keys: number
}

/**
 * The scripts that are replaced, patched or called with other arguments than BullMQ's, and the beginnings of the SHA-256
 * of their texts. How to change them with a new version of BullMQ is in backend/README.md.
 */
const knownScripts = {
  addDelayedJob: 'e47c0db3c46bd84afab98fae90bba3b9',
  addParentJob: '19780e843859d4d8f0ceade1aec912bb',
  addPrioritizedJob: 'd4652d1be004a3d7bfed76efdc706f20',
  changeDelay: '0a30d9823c49463b1ab53b1638e5a46f',
  extendLocks: '14bb41f30eff2e7ff033bbcb31078fbc',
  moveStalledJobsToWait: 'dad86d89b50d825fb9ad1e95ef0ca9ae',
  moveToActive: '7d35069db0b831af1bd1b2d5eb8d524e',
  moveToDelayed: '1a7b9311ef92fd66416973c29fa8b2c9',
  moveToFinished: '8e744ec5d65dbe9e7ffb6e39a96c0268',
  moveToWaitingChildren: '677d46787c3d50be28d37af321d2a445',
  reprocessJob: '4ea1093385a876769f604fb60e2db13d',
  retryJob: '01f75f76043050807bce00f70908be7c'
} as const

/** The name of such a script. */
export type ScriptName = keyof typeof knownScripts

/** BullMQ's script of this name. */
export function bullmqScript (name: string): BullmqScript {
  const scripts: unknown = load('bullmq/dist/cjs/scripts/index.js')
  const script = isRecord(scripts) ? scripts[name] : undefined
  if (!isScript(script)) throw new Error(`BullMQ has no script '${name}'`)
  return script
}

/** Those of BullMQ's scripts whose texts are not the ones that ours were made after: names and digests. */
export function changedScripts (): string[] {
  return Object.entries(knownScripts).flatMap(([name, known]) => {
    const digest = digestOf(bullmqScript(name).content)
    return digest === known ? [] : [`${name} ${digest}`]
  })
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

function digestOf (text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
