import type { Static } from 'typebox'
import { limits, permissions as knownPermissions } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { networkField, unixSocketsField } from '../../program/network.ts'
import { secretsField } from '../../program/secrets.ts'
import { Limits } from '../../program/limit-fields.ts'

const names = (description: string) => Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100, description })
)

/** An entry that says what a skill may do; Toolyard's own. */
export const SkillEntry = Type.Object({
  skill: Type.String({ minLength: 1, description: 'Name of a skill of any manifest.' }),
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether the skill is served.' })),
  permissions: Type.Optional(Type.Array(Type.String({ examples: [...knownPermissions] }), { description: 'What the sandbox lets its programs do.' })),
  network: networkField,
  secrets: secretsField,
  timeoutSec: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.toolTimeoutSec.max, description: 'Seconds for one call.' })),
  limits: Type.Optional(Limits),
  python: Type.Optional(Type.String({ pattern: '^/', description: 'Absolute path of a virtual environment, whose programs come first.' })),
  programs: names('Programs that it may run beside those of SKILL_PROGRAMS.'),
  envPassthrough: names('Names of environment variables that pass from the worker to it.'),
  overlay: Type.Optional(Type.Boolean({ default: false, description: 'Its scripts may write beside themselves; what they write is gone with the call.' })),
  unixSockets: unixSocketsField
}, { description: 'What a skill may do, which the skill itself never says.' })
export type SkillEntry = Static<typeof SkillEntry>
