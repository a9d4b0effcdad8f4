/** A tool whose part is absent is known, but disabled. */
export interface BuiltinPolicy {
  /** Programs that `tool_exec` may run. */
  exec?: { allowlist: readonly string[] }
  /** Domains that `data_fetch` may read. */
  fetch?: { allowlist: readonly string[] }
  webSearch?: object
  workspaceDelete?: boolean
}

/** A list for a description; models need to know what is allowed before they ask for it. */
export function listed (items: readonly string[]): string {
  const maxItems = 40
  if (items.length === 0) return 'none'
  return items.slice(0, maxItems).join(', ') + (items.length > maxItems ? ` and ${items.length - maxItems} more` : '')
}
