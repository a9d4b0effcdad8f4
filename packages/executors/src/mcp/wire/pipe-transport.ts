import { asError } from '@toolyard/contract/terms'
import type { Buffer } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { ServerFault, linesOf, notRead, type MessageReader } from './message-reader.ts'
import { messageText } from './message-text.ts'
import type { ServerProcess } from './server-process.ts'

/** Messages of one turn of the event loop. */
const perTurn = 32
/** The reason for an end that the client itself asked for. */
export const wasClosed = 'it was closed'
/** Between a server's exit and the end of its output, either way, in milliseconds. */
const exitMs = 100
/** Bytes that a server which doesn't read may leave unread. */
const mostUnread = 16_777_216

interface PipeOptions {
  reader: MessageReader
  /** Bytes of one message. */
  maxBytes: number
  /** Gets the reason why the connection ended, once. */
  onEnd: (reason: string) => void
}

/**
 * Messages over the pipes of a server, a line each. What is no message is passed over: servers print banners. What is read
 * is read in order, and nothing is read ahead, so that a server which floods waits.
 */
export function createPipeTransport (server: ServerProcess, { reader, maxBytes, onEnd }: PipeOptions): Transport {
  let ending: Promise<void> | undefined
  let reading: Promise<void> | undefined
  const transport: Transport & { stderr: null, pid: null } = {
    // These two members tell the client that this is a pipe, and that an older server may not answer unknown requests.
    stderr: null,
    pid: null,
    async start () { reading ??= read() },
    async send (message: JSONRPCMessage) {
      if (ending !== undefined) throw new Error('the connection is closed')
      server.stdin.write(`${messageText(message)}\n`)
      if (server.stdin.writableLength > mostUnread) void end(notRead)
    },
    close: async () => { await end(wasClosed) }
  }

  async function read (): Promise<void> {
    try {
      for await (const line of linesOf(server.stdout as AsyncIterable<Buffer>, { maxBytes, perTurn })) {
        const message = await reader.read(line)
        if (ending !== undefined) return
        if (message != null) transport.onmessage?.(message)
      }
      await end(await Promise.race([server.exited, sleep(exitMs, 'it closed its output', { ref: false })]))
    } catch (error) {
      await end(error instanceof ServerFault ? error.message : `its output can't be read: ${asError(error).message}`)
    }
  }

  function end (reason: string): Promise<void> {
    ending ??= (async () => {
      onEnd(reason)
      await server.end()
      transport.onclose?.()
    })()
    return ending
  }

  void server.exited.then(how => {
    // Its output may still be in the pipe.
    setTimeout(() => { void end(how) }, exitMs).unref()
  })
  return transport
}
