import { lookup as systemLookup, type LookupAddress, type ResolverOptions } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { errorCode } from '@toolyard/contract/terms'

/*
 * Name servers are asked by c-ares, which waits without a thread. `getaddrinfo` holds one of two threads of the process until
 * the name server has answered, or 10 s have passed: a few names whose servers keep silent would hold up the names of all
 * others for minutes. It is asked for what is not in the DNS: names of the hosts file, without a dot, and of the local network.
 */

/** Turns a host name into addresses, as Node's own `dns.lookup` with `all`. */
export type Lookup = (
  host: string, options: { all: true }, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void
) => void

export interface HostLookupOptions {
  /** Name servers, instead of those of the system. */
  servers?: readonly string[]
  hostsFile?: string
  resolverFile?: string
  /** How long a name server may take for the first of two questions, in milliseconds; for the second twice as long. */
  patience?: Patience
}

type Patience = Required<Pick<ResolverOptions, 'timeout' | 'tries'>>

/** After the answer for IPv4, that for IPv6 may take so long, in milliseconds: some servers never answer it. */
const lateMs = 500
const local = /^[^.]*$|\.local$|\.localhost$/i
/** The name isn't there; anything else is a server that doesn't say. */
const missing = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
/** A name server can't tell; another one may. */
const failed = ['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR']

/** Makes a lookup that holds up no other one, however long it takes. */
export function createHostLookup ({
  servers, hostsFile = '/etc/hosts', resolverFile = '/etc/resolv.conf', patience = { timeout: 2_500, tries: 2 }
}: HostLookupOptions = {}): Lookup {
  async function addressesOf (host: string): Promise<LookupAddress[]> {
    const name = host.replace(/\.$/, '')
    if (local.test(name) || isListed(await textOf(hostsFile), name)) return await systemAddresses(host)
    const candidates = name === host ? candidatesOf(name, await textOf(resolverFile)) : [name]
    // One for all candidates: it knows which server was silent, and asks that one last.
    const resolver = new Resolver(patience)
    if (servers !== undefined) resolver.setServers(servers)
    let isUnsure = false
    for (const candidate of candidates) {
      const answers = await answersFor(ask(resolver, 'resolve4', candidate, patience), ask(resolver, 'resolve6', candidate, patience))
      const found = answers.flatMap((answer, at) => (
        answer.status === 'fulfilled' ? answer.value.map(address => ({ address, family: at === 0 ? 4 : 6 })) : []
      ))
      if (found.length > 0) return found
      isUnsure ||= answers.some(answer => answer.status === 'rejected' && !missing.includes(errorCode(answer.reason) ?? ''))
    }
    throw lookupError(isUnsure ? 'EAI_AGAIN' : 'ENOTFOUND', host)
  }

  return (host, _options, callback) => {
    addressesOf(host).then(
      addresses => { callback(null, addresses) },
      (error: NodeJS.ErrnoException) => { callback(error, []) }
    )
  }
}

/**
 * The answers for both families. Addresses of IPv4 are enough, and a name that isn't there has none of IPv6. Those of IPv6 end no wait:
 * many machines reach IPv4 alone, and a question that was lost on its way is asked again.
 */
async function answersFor (four: Promise<string[]>, six: Promise<string[]>): Promise<Array<PromiseSettledResult<string[]>>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const isKnown = (): void => { timer = setTimeout(() => { reject(Object.assign(new Error('late'), { code: 'ENODATA' })) }, lateMs) }
    four.then(isKnown, error => { if (errorCode(error) === 'ENOTFOUND') isKnown() })
  })
  try {
    return await Promise.allSettled([four, Promise.race([six, late])])
  } finally {
    clearTimeout(timer)
  }
}

/** Node's c-ares takes the failure of a server for the answer. As glibc does, the other servers are asked then. */
async function ask (resolver: Resolver, question: 'resolve4' | 'resolve6', name: string, patience: Patience): Promise<string[]> {
  const all = resolver.getServers()
  for (let at = 0; ; at++) {
    const asked = at === 0 ? resolver : new Resolver(patience)
    if (at > 0) asked.setServers([...all.slice(at), ...all.slice(0, at)])
    try {
      return await asked[question](name)
    } catch (error) {
      if (at + 1 >= all.length || !failed.includes(errorCode(error) ?? '')) throw error
    }
  }
}

async function textOf (file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '')
}

function isListed (hosts: string, name: string): boolean {
  return new RegExp(`^[^#\\n]*\\s${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}\\.?(?:\\s|#|$)`, 'im').test(hosts)
}

/** The name, and the name in each domain that the system searches, in the system's order. */
function candidatesOf (name: string, settings: string): string[] {
  const domains = [...settings.matchAll(/^[ \t]*(?:search|domain)[ \t]+(.+)$/gm)].at(-1)?.[1]?.trim().split(/\s+/) ?? []
  const dots = Number(/^[ \t]*options[ \t].*\bndots:(\d+)/m.exec(settings)?.[1] ?? 1)
  const longer = domains.filter(domain => domain !== '.').map(domain => `${name}.${domain}`)
  return name.split('.').length > dots ? [name, ...longer] : [...longer, name]
}

function systemAddresses (host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses)
      else reject(error)
    })
  })
}

function lookupError (code: string, host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`lookup ${code} ${host}`), { code, syscall: 'lookup', hostname: host })
}
