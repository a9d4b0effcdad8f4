import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../access/principal.ts'
import { noForms, type ClientForms } from './asking/client-forms.ts'

/*
 * The id of a session of a client of 2025: a random part, and what proves that it was given to this key. So every process
 * knows a session without asking, and one of another key, or of a key that was replaced, is none.
 */

/** How ids begin whose clients can be asked something; the next digit says how: by a form, by a page, or 4 for what one more digit says. */
const askedStart = '0e11c17'
const pattern = /^([0-9a-f]{32})\.([\w-]{43})$/

export class SessionIds {
  issue (principal: Principal, { form, url, sampling, tools, roots }: ClientForms): string {
    const random = randomBytes(16).toString('hex')
    const more = bitsOf(sampling, tools, roots)
    const digits = `${bitsOf(form, url, more > 0)}${more > 0 ? more : ''}`
    const own = digits === '0' ? random : `${askedStart}${digits}${random.slice(askedStart.length + digits.length)}`
    return `${own}.${this.#proof(own, principal)}`
  }

  /**
   * The name of a session inside; undefined for an id that this key was never given. Who has an access token, and
   * no key to prove anything with, can make ids of sessions of his own: who he is, is a part of it.
   */
  read (id: string, principal: Principal): string | undefined {
    const [, own = '', proof = ''] = pattern.exec(id) ?? []
    const expected = this.#proof(own, principal)
    if (proof.length !== expected.length || !timingSafeEqual(Buffer.from(proof), Buffer.from(expected))) return undefined
    return createHash('sha256').update(`${own} ${sessionOwner(principal)}`).digest('base64url')
  }

  /** How the client of a session can be asked: what it said when it began. */
  forms (id: string): ClientForms {
    if (!id.startsWith(askedStart)) return noForms
    const [digit, next] = [...id.slice(askedStart.length)].map(Number)
    const [form, url, hasMore] = bitsIn(digit)
    const [sampling, tools, roots] = bitsIn(hasMore ? next : 0)
    return { form, url, sampling, tools, roots }
  }

  #proof (own: string, principal: Principal): string {
    return createHmac('sha256', `mcp session ${principal.proof}`).update(`${own} ${sessionOwner(principal)}`).digest('base64url')
  }
}

function bitsOf (...bits: [boolean, boolean, boolean]): number {
  return bits.reduce((sum, bit, place) => sum + (bit ? 2 ** place : 0), 0)
}

function bitsIn (digit = 0): [boolean, boolean, boolean] {
  return [(digit & 1) > 0, (digit & 2) > 0, (digit & 4) > 0]
}

/** Who a session is of. Tokens of two tenants may have one subject. No tenant has a space in its name. */
export function sessionOwner ({ tenant, name }: Pick<Principal, 'tenant' | 'name'>): string {
  return tenant === undefined ? name : `${tenant} ${name}`
}
