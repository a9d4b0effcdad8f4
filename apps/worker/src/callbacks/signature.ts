import { createHmac } from 'node:crypto'

/**
 * The signature of a callback: `v1=` and the hex HMAC-SHA256 over `<timestamp>.<body>`.
 *
 * @param timestamp seconds since 1970, in decimal digits.
 */
export function signCallback (secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
}
