import { BuiltinFailure } from '../handler.ts'

export interface UrlPolicy {
  /** Host names; each stands for its subdomains too, and `*` for all. */
  allowlist: readonly string[]
  allowHttp: boolean
}

/**
 * A URL that may be fetched (RC40, B32).
 *
 * @throws BuiltinFailure `url is required`, `url must be valid absolute URL`, `only https:// URLs are allowed` or
 * `domain not allowlisted: H`.
 */
export function allowedUrl (text: string, { allowlist, allowHttp }: UrlPolicy): URL {
  if (text === '') throw new BuiltinFailure('url is required')
  if (!URL.canParse(text)) throw new BuiltinFailure('url must be valid absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw new BuiltinFailure(allowHttp ? 'only https:// and http:// URLs are allowed' : 'only https:// URLs are allowed', 'NOT_ALLOWED')
  }
  if (url.username !== '' || url.password !== '') throw new BuiltinFailure('url must not hold a user name or password')
  const host = plainHost(url.hostname)
  if (!allowlist.some(entry => covers(plainHost(entry), host))) throw new BuiltinFailure(`domain not allowlisted: ${host}`, 'NOT_ALLOWED')
  return url
}

function covers (entry: string, host: string): boolean {
  return entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`)))
}

/** Lower case, and without what means the same: the dot of the root, and `*.` in front of an entry. */
function plainHost (host: string): string {
  return host.trim().toLowerCase().replace(/^\*?\./, '').replace(/\.$/, '')
}
