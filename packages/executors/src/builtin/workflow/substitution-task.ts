import { storedJson } from '@toolyard/contract/terms'
import type { ThreadAnswer } from '../../run/threads.ts'
import { BuiltinFailure } from '../kit/handler.ts'
import { PlaceholderError, substitute } from './placeholders.ts'

/** A value with placeholders, and what replaces them: JSON texts, which are handed to a thread quickly. */
export interface SubstitutionTask {
  value: string
  params: string
  /** By the name of their step. */
  outputs: Array<[string, string]>
  at: string
  /** Absent: any number. */
  maxParts?: number
}

/** Replaces placeholders, for a thread: a megabyte of small objects takes a tenth of a second. */
export function runSubstitutionTask (task: SubstitutionTask): ThreadAnswer {
  return { answer: substituted(task) }
}

/** The value without placeholders, as JSON. @throws BuiltinFailure for placeholders that can't be replaced. */
export function substituted ({ value, params, outputs, at, maxParts = Infinity }: SubstitutionTask): string {
  const scope = {
    params: storedJson<Record<string, unknown>>(params),
    outputs: new Map(outputs.map(([name, json]): [string, unknown] => [name, JSON.parse(json)]))
  }
  try {
    return JSON.stringify(substitute(JSON.parse(value), scope, at, maxParts))
  } catch (error) {
    throw error instanceof PlaceholderError ? new BuiltinFailure(error.message) : error
  }
}
