import { KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
// tsyringe, which the library uses, needs it.
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension, BasicConstraintsExtension, ExtendedKeyUsage, ExtendedKeyUsageExtension, KeyUsageFlags,
  KeyUsagesExtension, SubjectAlternativeNameExtension, SubjectKeyIdentifierExtension, X509CertificateGenerator
} from '@peculiar/x509'

/** Makes certificates of hosts that processes in boxes of this worker trust, and nobody else. Its key is in no file. */
export interface Authority {
  /** Its own certificate, in PEM. */
  certificate: string
  /** For a host as `canonicalHost` has it: to make one takes 3 ms. */
  contextOf (host: string): Promise<SecureContext>
}

const curve = { name: 'ECDSA', namedCurve: 'P-256' }
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' }
const dayMs = 86_400_000
const days = { authority: 3_650, host: 30 }
const mostHosts = 256

/** Makes the authority of a worker. All certificates of hosts have one key. */
export async function createAuthority (): Promise<Authority> {
  const { subtle } = globalThis.crypto
  const [keys, hostKeys] = await Promise.all([
    subtle.generateKey(curve, false, ['sign', 'verify']), subtle.generateKey(curve, true, ['sign', 'verify'])
  ])
  const own = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['Toolyard worker'] }],
    ...validity(days.authority),
    signingAlgorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey)
    ]
  })
  const key = KeyObject.from(hostKeys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
  const made = new Map<string, { at: number, context: Promise<SecureContext> }>()

  async function certify (host: string): Promise<SecureContext> {
    const certificate = await X509CertificateGenerator.create({
      // The name of a subject has 64 letters at most, and nobody reads it.
      subject: [{ CN: ['Toolyard'] }],
      issuer: own.subject,
      ...validity(days.host),
      signingAlgorithm,
      publicKey: hostKeys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
        await AuthorityKeyIdentifierExtension.create(own),
        await SubjectKeyIdentifierExtension.create(hostKeys.publicKey)
      ]
    })
    return createSecureContext({ cert: certificate.toString('pem'), key })
  }

  return {
    certificate: own.toString('pem'),
    async contextOf (host) {
      const known = made.get(host)
      if (known !== undefined && performance.now() - known.at < dayMs) return await known.context
      const [oldest] = made.keys()
      if (oldest !== undefined && made.size >= mostHosts) made.delete(oldest)
      const context = certify(host)
      made.set(host, { at: performance.now(), context })
      context.catch(() => { made.delete(host) })
      return await context
    }
  }
}

/** From yesterday on: the clock may be set back. */
function validity (length: number): { notBefore: Date, notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - dayMs), notAfter: new Date(now + length * dayMs) }
}
