import { BlockList, isIP } from 'node:net'
import { createHostLookup, type Lookup } from './host-lookup.ts'

/** IPv4 networks that are no public hosts: private, loopback, link-local with metadata services, that of Azure, and reserved ones. */
const refused4 = [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['168.63.129.16', 32], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24],
  ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 3]
] as const
/** Public IPv6 hosts are all in 2000::/3; in it these are special, or hold an IPv4 address that could be any. */
const refused6 = [['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20]] as const

/** A host has an address inside: private, loopback, link-local or reserved. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'

  constructor (host: string) {
    super(`address not allowed: ${host} is not a public host`)
  }
}

/** Makes the check whether an address, v4 or v6, is that of a public host. What is no address isn't. */
export function createPublicCheck (): (address: string) => boolean {
  const refused = new BlockList()
  for (const [network, bits] of refused4) refused.addSubnet(network, bits, 'ipv4')
  const special = new BlockList()
  for (const [network, bits] of refused6) special.addSubnet(network, bits, 'ipv6')
  const global = new BlockList()
  global.addSubnet('2000::', 3, 'ipv6')
  return address => {
    const [plain = ''] = address.split('%')
    if (isIP(plain) === 4) return !refused.check(plain, 'ipv4')
    return isIP(plain) === 6 && global.check(plain, 'ipv6') && !special.check(plain, 'ipv6')
  }
}

/** The address that a URL's host is, if it is one; a name isn't. */
export function literalAddress (hostname: string): string | undefined {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isIP(address) === 0 ? undefined : address
}

/**
 * The addresses of a host, for a program that connects by itself and is told where to.
 *
 * @throws AddressRefusedError for a host that has any address inside.
 */
export async function publicAddresses (hostname: string, lookup: Lookup = createHostLookup()): Promise<string[]> {
  const literal = literalAddress(hostname)
  const addresses = literal === undefined ? await lookedUp(hostname, lookup) : [literal]
  const isPublic = createPublicCheck()
  if (!addresses.every(isPublic)) throw new AddressRefusedError(hostname)
  return addresses
}

function lookedUp (hostname: string, lookup: Lookup): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses.map(({ address }) => address))
      else reject(error)
    })
  })
}
