import { isRecord, readJson, readWhole, withNumbers, writeJson } from '@toolyard/contract/terms'
import { bufferOf, type ThreadAnswer } from '@toolyard/runtime/threads'
import { BuiltinFailure } from '../kit/handler.ts'
import { PlaceholderError, substitute } from './placeholders.ts'

/** A value with placeholders, and what replaces them: JSON texts, and such as bytes that are shared with a thread, not copied. */
export interface SubstitutionTask {
  value: string
  params: string
  /** By the name of their step. */
  outputs: Array<[string, Uint8Array]>
  at: string
  /** Absent: any number. */
  maxParts?: number
}

/** Replaces placeholders, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runSubstitutionTask (task: SubstitutionTask): ThreadAnswer {
  return { answer: substituted(task) }
}

function recordOf (value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** The value without placeholders, as JSON. @throws BuiltinFailure for placeholders that can't be replaced. */
export function substituted ({ value, params, outputs, at, maxParts = Infinity }: SubstitutionTask): string {
  const scope = {
    params: withNumbers(recordOf(readJson(params))),
    outputs: new Map(outputs.map(([name, json]): [string, unknown] => [name, withNumbers(readWhole(bufferOf(json).toString()))]))
  }
  try {
    return writeJson(substitute(readWhole(value), scope, at, maxParts))
  } catch (error) {
    throw error instanceof PlaceholderError ? new BuiltinFailure(error.message) : error
  }
}
