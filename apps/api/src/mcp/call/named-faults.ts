import { isRecord } from '@toolyard/contract'
import { rpcCodes } from './rpc-error.ts'

/*
 * The protocol's own code answers parameters of a wrong form with an internal error, whose message is its validator's report.
 * It is the client's fault, and is said as one.
 */

/** Answers longer than this, in UTF-16 units, are none of these. */
const longest = 65_536
/** Faults that are named. */
const most = 5

/** The text of an answer, with such errors as -32602 and in words. */
export function namedFaults (text: string): string {
  if (text.length > longest || !text.includes(`"code":${rpcCodes.internal}`)) return text
  return JSON.stringify(named(JSON.parse(text)))
}

function named (answer: unknown): unknown {
  if (!isRecord(answer) || !isRecord(answer['error'])) return answer
  const { code, message } = answer['error']
  const faults = code === rpcCodes.internal && typeof message === 'string' ? faultsIn(message) : []
  if (faults.length === 0) return answer
  return { ...answer, error: { code: rpcCodes.invalidParams, message: `Invalid params: ${faults.slice(0, most).join('; ')}` } }
}

/** What a validator's report says, with the place of each fault; nothing for another message. */
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
