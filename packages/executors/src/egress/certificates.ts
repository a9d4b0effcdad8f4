import { writeFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { certificatesPlace } from '@toolyard/sandbox'
import type { Authority } from './authority.ts'

/** An authority, and the file of all that boxes trust where it answers for hosts. */
export interface Trust {
  authority: Authority
  file: string
}

/** Programs and libraries read the name of that file from these. */
export const certificateVariables = Object.fromEntries(
  ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'].map(name => [name, certificatesPlace])
)

/** Where systems have the certificates that they trust. */
const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/ca-bundle.pem', '/etc/ssl/cert.pem'] as const

/** Makes the authority of a worker, and a file in a private directory with its certificate behind those of the system. */
export async function createTrust (directory: string): Promise<Trust> {
  // `loadCodeOf` has loaded it: a worker without such tools is smaller.
  const { createAuthority } = await import('./authority.ts')
  const authority = await createAuthority()
  const file = join(directory, 'certificates.pem')
  await writeFile(file, `${await systemCertificates()}\n${authority.certificate}\n`, { mode: 0o644 })
  return { authority, file }
}

/** Those of Node where the system has none, as in small images. */
async function systemCertificates (): Promise<string> {
  for (const bundle of bundles) {
    const text = await readFile(bundle, 'latin1').catch(() => '')
    if (text !== '') return text
  }
  return rootCertificates.join('\n')
}
