import type { FastifyReply } from 'fastify'

/** What every answer of the dashboard carries: nobody frames it, keeps it, or takes it for something else. */
const always = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`: with that browsers hide the origin of a form, too.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
} as const

const own = "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

/** Scripts come from the dashboard's own files alone, so that what a tool has put out is text whatever it holds (fault 42). */
const boardPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; " +
  `style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; ${own}`

/** Sets the headers of the board and its files. */
export function setBoardHeaders (reply: FastifyReply): void {
  void reply.headers({ ...always, 'content-security-policy': boardPolicy })
}

/** Sets the headers of a page without scripts, whose one style sheet has this SHA-256 in base64. */
export function setFormHeaders (reply: FastifyReply, styleDigest: string): void {
  void reply.headers({ ...always, 'content-security-policy': `default-src 'none'; style-src 'sha256-${styleDigest}'; img-src data:; ${own}` })
}
