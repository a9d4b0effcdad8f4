import { Check } from 'typebox/schema'
import { limits } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import type { Static } from 'typebox'
import type { PolicyRule } from '../../tool/policy-rule.ts'

const terms = {
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'What the model, and who decides, is told.' })),
  approvers: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 1, description: 'How many different keys must approve.' })),
  by: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100, description: 'Names of the only keys that may decide.' })),
  self: Type.Optional(Type.Boolean({ default: false, description: 'Whether the key that submitted the call may decide.' })),
  expires_sec: Type.Optional(Type.Integer({ ...minMax(limits.approvalSec), default: limits.approvalSec.default, description: 'Seconds until nobody can approve the call any more.' }))
}

const Rule = Type.Object({
  when: Type.String({ minLength: 1, maxLength: 4_096, description: 'An expression in CEL over args, key, tenant, session, conversation and tool.' }),
  then: Type.Enum(['allow', 'deny', 'hold'], { description: 'What becomes of a call that it is true of; the strictest rule counts.' }),
  ...terms
}, { additionalProperties: false })

/** `policy` of an entry, and of the policy file. */
const Policy = Type.Array(Rule, { maxItems: 100, description: 'Rules on calls: which of them run, are denied, or wait for an approval.' })

/** `approval` of an entry. */
export const Approval = Type.Union([
  Type.Literal('required'),
  Type.Object(terms, { additionalProperties: false })
], { description: '"required": each call waits until somebody approves it. An object says how.' })

/** Fields of entries about their calls: for manifests of every format. */
export const policyFields = { policy: Type.Optional(Policy), approval: Type.Optional(Approval) }

const Named = Type.Object({ $schema: Type.Optional(Type.String()), policy: Policy }, { additionalProperties: false })
const PolicyFile = Type.Union([Policy, Named])

/** The rules of a checked entry: one that always needs an approval has a rule that is always true. */
export function rulesOf (
  { policy = [], approval }: { policy?: PolicyRule[] | undefined, approval?: Static<typeof Approval> | undefined }
): PolicyRule[] {
  if (approval === undefined) return policy
  return [...policy, { when: 'true', then: 'hold', ...(approval === 'required' ? {} : approval) }]
}

export function isPolicyFile (value: unknown): value is Static<typeof PolicyFile> {
  return Check(PolicyFile, value)
}

function minMax ({ min, max }: { min: number, max: number }): { minimum: number, maximum: number } {
  return { minimum: min, maximum: max }
}
