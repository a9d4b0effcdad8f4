import type { ServerResponse } from 'node:http'
import { heartbeatFrame } from './frame.ts'

/*
 * One open response with events.
 *
 * open -> full (64 KiB wait for the reader; whoever writes must stop) -> open again when all of it is gone, or dropped
 * when it is still full a heartbeat later -> closed, whoever closed it.
 */

const bufferBytes = 65_536

const nothing = Buffer.alloc(0)

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff'
} as const

export class EventStream {
  /** Called when a stream that was full is empty again. */
  onDrain: () => void = () => {}
  /** Called once, when the stream is closed by either side. */
  onClose: () => void = () => {}
  readonly #response: ServerResponse
  #wasStuck = false

  constructor (response: ServerResponse) {
    this.#response = response
    response.writeHead(200, streamHeaders)
    response.on('drain', () => {
      this.#wasStuck = false
      this.onDrain()
    })
    response.once('close', () => { this.onClose() })
  }

  /** Nothing more may be sent before it drains. */
  get isFull (): boolean {
    return this.#response.writableLength >= bufferBytes
  }

  /** The reader has gone, or was sent the end. */
  get isClosed (): boolean {
    return this.#response.writableEnded || this.#response.destroyed
  }

  send (frame: Buffer): void {
    if (!this.isClosed) this.#response.write(frame)
  }

  /** Sends frames together, by few calls of the system, until the reader is full. Gives how many it was sent. */
  sendAll (frames: readonly Buffer[]): number {
    const { socket } = this.#response
    socket?.cork()
    let sent = 0
    while (sent < frames.length && !this.isFull) this.send(frames[sent++] ?? nothing)
    socket?.uncork()
    return sent
  }

  /** Sends the last frame; the connection may serve another request afterwards. */
  end (frame: Buffer): void {
    if (!this.isClosed) this.#response.end(frame)
  }

  /** Sends a heartbeat, or drops a reader that has been stuck since the last one, also one that doesn't take the end. */
  beat (): void {
    const isStuck = this.isFull || this.#response.writableEnded
    if (isStuck && this.#wasStuck) this.#response.destroy()
    else if (!isStuck) this.send(heartbeatFrame)
    this.#wasStuck = isStuck
  }
}
