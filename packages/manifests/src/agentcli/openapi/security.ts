import { isRecord } from '@toolyard/contract/terms'
import { dereferenced, OpenapiFault, text20, type OpenapiDocument } from './document.ts'

export interface SecretDraft {
  /** The security scheme's name in the document. */
  scheme: string
  says: string
  place: { in: 'header', name: string, prefix?: string, base64?: true } | { in: 'query', name: string }
}

/**
 * The secrets of the first alternative that can be sent; none where the operation asks for none.
 *
 * @throws OpenapiFault where every alternative asks for something else, such as a certificate.
 */
export function secretsOf (document: OpenapiDocument, operation: Record<string, unknown>): SecretDraft[] {
  const alternatives = operation['security'] ?? document.root['security']
  if (!Array.isArray(alternatives) || alternatives.length === 0) return []
  let first: OpenapiFault | undefined
  // An empty one says that the others are optional: they are sent where they are named.
  for (const alternative of [...alternatives as unknown[]].sort((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)))) {
    try {
      return inPlacesOfTheirOwn(Object.keys(isRecord(alternative) ? alternative : {}).map(scheme => secretOf(document, scheme)))
    } catch (error) {
      if (!(error instanceof OpenapiFault)) throw error
      first ??= error
    }
  }
  throw first ?? new OpenapiFault('asks for credentials that can\'t be read')
}

/** Whether a parameter of an operation is what a secret is sent as. */
export function isSentBy ({ place }: SecretDraft, parameter: { in: string, name: string }): boolean {
  if (place.in !== parameter.in) return false
  return place.in === 'header' ? place.name.toLowerCase() === parameter.name.toLowerCase() : place.name === parameter.name
}

/** Two flows that give the same token, as documents of Google have them, are one credential; others in one place can't be sent. */
function inPlacesOfTheirOwn (secrets: readonly SecretDraft[]): SecretDraft[] {
  return secrets.filter((secret, at) => {
    const other = secrets.slice(at + 1).find(each => isSentBy(each, secret.place))
    if (other === undefined) return true
    if (JSON.stringify(other.place) !== JSON.stringify(secret.place)) throw new OpenapiFault(`asks for two credentials in ${text20(secret.place.name)}`)
    return false
  })
}

function isEmpty (alternative: unknown): boolean {
  return !isRecord(alternative) || Object.keys(alternative).length === 0
}

function secretOf (document: OpenapiDocument, scheme: string): SecretDraft {
  const { components } = document.root
  const schemes = isRecord(components) && isRecord(components['securitySchemes']) ? components['securitySchemes'] : {}
  const { type, name, in: place, scheme: kind } = dereferenced(document, schemes[scheme])
  const bearer = { in: 'header', name: 'Authorization', prefix: 'Bearer ' } as const
  const method = typeof kind === 'string' ? kind.toLowerCase() : ''
  if (type === 'apiKey' && typeof name === 'string' && place === 'header') return { scheme, says: 'an API key', place: { in: 'header', name } }
  if (type === 'apiKey' && typeof name === 'string' && place === 'query') return { scheme, says: 'an API key', place: { in: 'query', name } }
  if (type === 'apiKey' && typeof name === 'string' && place === 'cookie') return { scheme, says: 'the value of a cookie', place: { in: 'header', name: 'Cookie', prefix: `${name}=` } }
  if (type === 'http' && method === 'bearer') return { scheme, says: 'a token', place: bearer }
  if (type === 'http' && method === 'basic') return { scheme, says: 'a login, as user:password', place: { in: 'header', name: 'Authorization', prefix: 'Basic ', base64: true } }
  if (type === 'oauth2' || type === 'openIdConnect') return { scheme, says: 'an access token; Toolyard gets and renews none by itself', place: bearer }
  throw new OpenapiFault(`asks for the credential ${text20(scheme)} (${text20([type, kind].filter(each => typeof each === 'string').join(' ') || 'which isn\'t described')}), which can't be sent`)
}
