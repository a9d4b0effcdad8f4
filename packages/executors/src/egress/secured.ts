import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { errorCode } from '@toolyard/contract/terms'
import { EgressRefusal, targetText, type Target } from './target.ts'

const handshakeMs = 15_000

/**
 * Speaks TLS with a host on a connection to it, and checks its certificate.
 *
 * @param authorities in PEM; undefined: those of Node, and of NODE_EXTRA_CA_CERTS
 * @throws EgressRefusal.
 */
export async function secured (socket: Socket, target: Target, authorities: readonly string[] | undefined): Promise<TLSSocket> {
  const { host } = target
  const refusal = (why: string): EgressRefusal => new EgressRefusal(502, `egress: ${targetText(target)} can't be spoken to over TLS (${why})`)
  // It would be heard of no more.
  if (socket.destroyed) throw refusal('closed')
  const secure = connect({
    socket,
    host,
    ...isIP(host) === 0 && { servername: host },
    ALPNProtocols: ['http/1.1'],
    ...authorities !== undefined && { ca: [...authorities] }
  })
  return await new Promise((resolve, reject) => {
    const fail = (why: string): void => { reject(refusal(why)) }
    const timer = setTimeout(() => { secure.destroy(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' })) }, handshakeMs)
    secure.once('secureConnect', () => { resolve(secure) })
    secure.once('close', () => { fail('closed') })
    secure.on('error', (error: Error) => { fail(errorCode(error) ?? error.message) })
    secure.once('secureConnect', () => { clearTimeout(timer) }).once('close', () => { clearTimeout(timer) })
  })
}
