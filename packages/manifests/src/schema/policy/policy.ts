import type { CallError, Hold } from '@toolyard/contract'
import { limits } from '@toolyard/contract/terms'
import type { PolicyRule } from '../../tool/policy-rule.ts'
import { compileExpression, summary, type Cel, type Expression, type PolicyInput } from './expression.ts'
import type { ValueSize } from './expression-steps.ts'

/** Rules that were compiled, in their order. */
export type Policy = readonly CompiledRule[]
interface CompiledRule { rule: PolicyRule, expression: Expression }

/** How a call must be approved before it runs. */
export type HoldTerms = Omit<Hold, 'digest' | 'parts'>

export type Verdict = { kind: 'allow' } | { kind: 'deny', error: CallError & { code: 'POLICY_DENIED', details?: Record<string, unknown> } } | { kind: 'hold', terms: HoldTerms }

/** Steps that the rules on one call may take: some 20 ms. */
const mostSteps = 200_000

export function compilePolicy (cel: Cel, rules: readonly PolicyRule[]): Policy {
  return rules.map(rule => ({ rule, expression: compileExpression(cel, rule.when) }))
}

/** Asks all rules; the strictest answer counts. What can't be decided is denied. */
export function judge (policy: Policy, input: PolicyInput): Verdict {
  const size = sizeOf(input.args)
  let steps = 0
  let held: HoldTerms | undefined
  for (const { rule, expression } of policy) {
    steps += expression.steps(size)
    if (steps > mostSteps) return denied(rule, `the rule ${quoted(rule)} would take too many steps over these arguments`)
    let answer: unknown
    try {
      answer = expression.run(input)
    } catch (error) {
      return denied(rule, `the rule ${quoted(rule)} can't be decided: ${summary(error).slice(0, 200)}`)
    }
    if (answer === false) continue
    if (answer !== true) return denied(rule, `the rule ${quoted(rule)} gives neither true nor false`)
    if (rule.then === 'deny') return denied(rule, rule.reason ?? `the rule ${quoted(rule)} denies it`)
    if (rule.then === 'hold') held = stricter(held, termsOf(rule))
  }
  return held === undefined ? { kind: 'allow' } : { kind: 'hold', terms: held }
}

function denied ({ reason }: PolicyRule, message: string): Verdict {
  return { kind: 'deny', error: { code: 'POLICY_DENIED', message, ...(reason === undefined || reason === message ? {} : { details: { reason } }) } }
}

function quoted ({ when }: PolicyRule): string {
  return JSON.stringify(when.length > 120 ? `${when.slice(0, 119)}…` : when)
}

function termsOf (
  { when, reason, approvers = 1, by, self = false, expires_sec: expiresSec = limits.approvalSec.default }: PolicyRule
): HoldTerms {
  return { ...(when === 'true' ? {} : { rule: when }), ...(reason === undefined ? {} : { reason }), approvers, ...(by === undefined ? {} : { by }), self, expiresSec }
}

/** Where two rules hold a call, the terms of both must be met. */
function stricter (first: HoldTerms | undefined, second: HoldTerms): HoldTerms {
  if (first === undefined) return second
  const by = first.by === undefined ? second.by : first.by.filter(name => second.by?.includes(name) ?? true)
  return {
    ...first,
    ...(by === undefined ? {} : { by }),
    ...(first.reason === undefined && second.reason !== undefined ? { reason: second.reason } : {}),
    approvers: Math.max(first.approvers, second.approvers),
    self: first.self && second.self,
    expiresSec: Math.min(first.expiresSec, second.expiresSec)
  }
}

/** The number of values in arguments is bounded where they are read. */
function sizeOf (args: Record<string, unknown>): ValueSize {
  const size = { members: 0, chars: 0, text: 0, values: 0 }
  const add = (text: string): void => {
    size.chars = Math.max(size.chars, text.length)
    size.text += text.length
  }
  const open: unknown[] = [args]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') add(value)
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) for (const name of Object.keys(value)) add(name)
    const members = Array.isArray(value) ? value as unknown[] : Object.values(value)
    size.members = Math.max(size.members, members.length)
    size.values += members.length
    for (const member of members) if (typeof member === 'string' || typeof member === 'object') open.push(member)
  }
  return size
}
