import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Makes an authority `ca.pem` in a directory, and a certificate of it for this machine, or other hosts: `NAME.pem` and `NAME.key`. */
export function makeCertificates (dir: string, name: string, hosts = 'DNS:localhost,IP:127.0.0.1'): void {
  const openssl = (...args: string[]): void => { execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' }) }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test-ca', '-days', '2')
  openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=localhost', '-addext', `subjectAltName=${hosts}`)
  openssl('x509', '-req', '-in', join(dir, `${name}.csr`), '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy', '-out', `${name}.pem`, '-days', '2')
}
