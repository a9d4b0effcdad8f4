/** A rule on calls: what becomes of one that an expression is true of. */
export interface PolicyRule {
  /** In CEL. */
  when: string
  then: 'allow' | 'deny' | 'hold'
  /** For the model, and who decides. */
  reason?: string
  /** How many different keys must approve; 1 when absent. */
  approvers?: number
  /** Names of the only keys that may decide. */
  by?: string[]
  /** Whether the key that submitted the call may decide. */
  self?: boolean
  /** Seconds until nobody can approve the call any more. */
  expires_sec?: number
}
