import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../access/principal.ts'
import { noForms, type ClientForms } from './asking/client-forms.ts'

/*
 * The id of a session of a client of 2025: a random part, and what proves that it was given to this key. So every process
 * knows a session without asking, and one of another key, or of a key that was replaced, is none.
 */

/** How ids begin whose clients can be asked something; the next digit says how. Older releases take them for any other. */
const askedStart = '0e11c17'
const pattern = /^([0-9a-f]{32})\.([\w-]{43})$/

export class SessionIds {
  issue (principal: Principal, { form, url }: ClientForms): string {
    const random = randomBytes(16).toString('hex')
    const digit = (form ? 1 : 0) + (url ? 2 : 0)
    const own = digit === 0 ? random : `${askedStart}${digit}${random.slice(askedStart.length + 1)}`
    return `${own}.${this.#proof(own, principal)}`
  }

  /**
   * What a session has as its name inside; undefined for an id that this key was never given. Who has an access token, and
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
    const digit = Number(id[askedStart.length])
    return { form: digit === 1 || digit === 3, url: digit === 2 || digit === 3 }
  }

  #proof (own: string, principal: Principal): string {
    return createHmac('sha256', `mcp session ${principal.proof}`).update(`${own} ${sessionOwner(principal)}`).digest('base64url')
  }
}

/** Who a session is of. Tokens of two tenants may have one subject. No tenant has a space in its name. */
export function sessionOwner ({ tenant, name }: Pick<Principal, 'tenant' | 'name'>): string {
  return tenant === undefined ? name : `${tenant} ${name}`
}
