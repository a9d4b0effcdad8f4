import { isRecord } from '@toolyard/contract'
import { rpcCodes } from './rpc-error.ts'

/*
 * The protocol's own code answers parameters of a wrong form with its validator's report, mostly as an internal error.
 * It is the client's fault, and is said as one, in words.
 */

/** Answers longer than this, in UTF-16 units, are none of these. */
export const longestFault = 65_536
const faulty = new RegExp(`"code":(?:${rpcCodes.internal}|${rpcCodes.invalidParams})\\b`)
/** Faults that are named. */
const most = 5

/** The text of an answer, with such errors as -32602 and in words. */
export function namedFaults (text: string): string {
  if (text.length > longestFault || !faulty.test(text)) return text
  return JSON.stringify(named(JSON.parse(text)))
}

/** The same for a piece of a stream, which is one event. */
export function namedFaultsOfEvent (piece: string): string {
  if (piece.length > longestFault || !faulty.test(piece)) return piece
  return piece.replace(/^data: (.*)$/m, (_, json: string) => `data: ${namedFaults(json)}`)
}

function named (answer: unknown): unknown {
  if (!isRecord(answer) || !isRecord(answer['error'])) return answer
  const { code, message } = answer['error']
  const isFault = code === rpcCodes.internal || code === rpcCodes.invalidParams
  const faults = isFault && typeof message === 'string' ? faultsIn(message.replace(/^Invalid [\w/]+ request: /, '')) : []
  if (faults.length === 0) return answer
  return { ...answer, error: { code: rpcCodes.invalidParams, message: `Invalid params: ${faults.slice(0, most).join('; ')}` } }
}

/** A validator's report, with the place of each fault; nothing for another message. */
function faultsIn (message: string): string[] {
  if (!message.startsWith('[')) return []
  try {
    const issues: unknown = JSON.parse(message)
    return (Array.isArray(issues) ? issues : []).flatMap((issue: unknown) => {
      if (!isRecord(issue) || !Array.isArray(issue['path']) || typeof issue['message'] !== 'string') return []
      return [`${issue['path'].map(String).join('.')}: ${issue['message']}`]
    })
  } catch {
    return []
  }
}
