/** How processes use a stored secret: they have its value, or a placeholder that requests to `hosts` alone carry the value of. */
export type SecretUse =
  | { secret: string, as: 'env' | 'file' }
  | { secret: string, as: 'header', /** As `egressText` writes them; each is in the tool's `network`. */ hosts: readonly string[] }

/** Stored secrets that processes use, by the names of variables. */
export type SecretUses = Readonly<Record<string, SecretUse>>
