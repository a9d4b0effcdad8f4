import { programDigest, type RegisteredTool } from '@toolyard/manifests'
import { approvalDigest, argumentsOf, type HeldAgain, type TakenJob } from '@toolyard/queue'

/**
 * Compares what would run with what was approved. What the API process couldn't read of the tool is not compared, and a key of
 * the settings is known to API processes alone.
 *
 * @returns what would run, and what of it changed; undefined where they are the same.
 */
export async function changedSince (
  { data, approved }: TakenJob, { tool, entry }: RegisteredTool, keyPartOf: (name: string) => Promise<string>
): Promise<HeldAgain | undefined> {
  const { hold } = data
  if (hold === undefined) return undefined
  const { parts } = hold
  const args = await argumentsOf(data)
  const now = {
    entry,
    program: parts.program === null ? null : await programDigest(tool, args),
    key: parts.key.startsWith('redis:') ? await keyPartOf(data.keyName) : parts.key
  }
  const digest = approvalDigest({ ...data, arguments: args }, now)
  if (digest === approved) return undefined
  // It had changed, was held again for that, and changed back.
  if (digest === hold.digest) return { digest, changed: 'it is again as it was when the call was submitted', program: now.program }
  const changed = now.key !== parts.key
    ? 'its key'
    : now.program !== parts.program ? "the tool's program" : now.entry !== parts.entry ? "the tool's entry in its manifest" : 'the call itself'
  return { digest, changed: `${changed} changed after the call was submitted, or another release of Toolyard took the call in`, program: now.program }
}
