import type { JobData } from '@toolyard/contract'
import { setImmediate as turn } from 'node:timers/promises'
import { isRecord, isWritten, protocol, readJsonInTurns, WrittenJson, writeJson } from '@toolyard/contract/terms'
import { isTexts, readStored } from '@toolyard/store'

/** A job's data: its arguments also as text, where only that keeps their numbers and their order. */
export function carriedData (data: JobData): JobData {
  // Not as members behind the spread: in Node 20, each of those takes more than a microsecond.
  const carried = { ...data }
  carried.protocol = protocol
  if (isWritten(data.arguments)) carried.argumentsText = writeJson(data.arguments)
  return carried
}

/** Reads the data that a job has in Redis. */
export function decodeData (text: string): JobData {
  return readStored('the data of a job', text, isData)
}

function isData (value: unknown): value is JobData {
  return isRecord(value) && typeof value['tool'] === 'string' && isRecord(value['arguments']) && isTexts(value['tags']) && typeof value['keyName'] === 'string'
}

/** The arguments that a job carries, as they were written. */
export async function argumentsOf ({ arguments: args, argumentsText: text }: JobData): Promise<Record<string, unknown>> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `carriedData` has written it.
  return text === undefined ? args : await readJsonInTurns(text, turn) as Record<string, unknown>
}

/** The same for who only shows them: to read the text, and to write it again, takes long. */
export function shownArguments ({ arguments: args, argumentsText: text }: JobData): unknown {
  return text === undefined ? args : new WrittenJson(text)
}
