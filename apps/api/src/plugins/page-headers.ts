const headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
} as const

/** Headers of a page that nobody frames or takes for something else; it runs the service's own scripts alone. */
export function pageHeaders (policy: string): Record<string, string> {
  return { ...headers, 'content-security-policy': `default-src 'none'; script-src 'self'; ${policy}; connect-src 'self'; frame-ancestors 'none'` }
}
