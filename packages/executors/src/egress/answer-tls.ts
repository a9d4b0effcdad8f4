import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { errorCode } from '@toolyard/contract/terms'
import type { Identity } from './authority.ts'

/** How the TLS of a program came out. */
export interface TlsEnd {
  /** Serves what the program says; `asked` tells whether it has made a request. */
  serve: (secure: TLSSocket) => { asked: () => boolean }
  /** The program does not take the certificate. */
  refused: (why: string) => void
}

const handshakeMs = 15_000

/**
 * Answers the TLS of a program in the place of a host. Programs that trust other authorities end the connection, some only
 * when it is made, without a word.
 */
export function answerTls (client: Socket, { cert, key }: Identity, { serve, refused }: TlsEnd): void {
  const server = createServer({ cert, key, ALPNProtocols: ['http/1.1'], handshakeTimeout: handshakeMs })
  server.once('tlsClientError', error => {
    client.destroy()
    refused(errorCode(error) ?? error.message)
  })
  server.once('secureConnection', secure => {
    const { asked } = serve(secure)
    secure.once('close', () => { if (!asked()) refused('it made no request') })
  })
  // A program that ends the connection in the midst of the greeting would not be heard of.
  client.allowHalfOpen = false
  // It never listens: it has this one connection.
  server.emit('connection', client)
}
