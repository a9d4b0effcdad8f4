import { AddressRefusedError, createPublicCheck, literalAddress } from '../../outgoing/addresses.ts'
import { isListedHost, plainHost } from '../../outgoing/hosts.ts'
import type { Settings } from '../settings.ts'

export interface CallbackPolicy {
  /** Host names; each stands for its subdomains too, and `*` for all. */
  allowlist: readonly string[]
  allowHttp: boolean
  /** Whether addresses inside may be called. */
  allowPrivate: boolean
}

export interface Callbacks {
  kind: 'configured'
  policy: CallbackPolicy
  /** Signs them. */
  secret: string
  attempts: number
}

/** Names the settings that there would have to be. */
export interface NoCallbacks {
  kind: 'none'
  missing: readonly string[]
}

export function callbacksOf (settings: Settings): Callbacks | NoCallbacks {
  const { CALLBACK_SECRET: secret, CALLBACK_ALLOWLIST: allowlist } = settings
  if (secret === undefined || allowlist.length === 0) {
    return { kind: 'none', missing: [...secret === undefined ? ['CALLBACK_SECRET'] : [], ...allowlist.length === 0 ? ['CALLBACK_ALLOWLIST'] : []] }
  }
  const policy = { allowlist, allowHttp: settings.CALLBACK_ALLOW_HTTP, allowPrivate: settings.CALLBACK_ALLOW_PRIVATE }
  return { kind: 'configured', policy, secret, attempts: settings.CALLBACK_ATTEMPTS }
}

/** Makes the check that says why a URL may not be called, without repeating its path; undefined when it may. */
export function createCallbackCheck ({ allowlist, allowHttp, allowPrivate }: CallbackPolicy): (url: URL) => string | undefined {
  const isPublic = createPublicCheck()
  return url => {
    if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) return allowHttp ? 'only https:// and http:// URLs are allowed' : 'only https:// URLs are allowed'
    if (!isListedHost(allowlist, url.hostname)) return `host not allowlisted: ${plainHost(url.hostname)}`
    const address = literalAddress(url.hostname)
    return allowPrivate || address === undefined || isPublic(address) ? undefined : new AddressRefusedError(address).message
  }
}
