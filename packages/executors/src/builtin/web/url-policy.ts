import { isListedHost, plainHost } from '@toolyard/runtime/outgoing'
import { BuiltinFailure } from '../kit/handler.ts'

export interface UrlPolicy {
  /** Host names; each includes its subdomains, and `*` means all. */
  allowlist: readonly string[]
  allowHttp: boolean
}

/**
 * A URL that may be fetched.
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
  if (!isListedHost(allowlist, url.hostname)) throw new BuiltinFailure(`domain not allowlisted: ${plainHost(url.hostname)}`, 'NOT_ALLOWED')
  return url
}
