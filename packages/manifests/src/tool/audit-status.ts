/** How much an operator trusts what was added: an entry of the lock says it. */
export type AuditStatus = 'experimental' | 'trusted'
