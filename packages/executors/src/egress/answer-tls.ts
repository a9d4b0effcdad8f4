import type { Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import { errorCode } from '@toolyard/contract/terms'
import type { Authority } from './authority.ts'
import type { InTurn } from './connector.ts'

/** What answers TLS in the place of hosts, and when. */
export interface Answering {
  authority: () => Promise<Authority>
  inTurn: InTurn
}

/** How the TLS of a program came out. */
interface TlsEnd {
  /** Serves what the program says; `asked` tells whether it has made a request. */
  serve: (secure: TLSSocket) => { asked: () => boolean }
  /** The program does not take the certificate. */
  refused: (why: string) => void
}

/**
 * Answers the TLS of a program in the place of a host. Programs that trust other authorities end the connection, some without
 * a word, and only when it is made.
 */
export function answerTls (client: Socket, secureContext: SecureContext, { serve, refused }: TlsEnd): void {
  // A program that ends the connection in the midst of the greeting would not be heard of.
  client.allowHalfOpen = false
  const secure = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  let why = 'it made no request'
  secure.once('error', error => { why = errorCode(error) ?? why })
  const { asked } = serve(secure)
  secure.once('close', () => { if (!asked()) refused(why) })
}
