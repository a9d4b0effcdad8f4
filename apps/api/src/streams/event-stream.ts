import type { HttpError } from '@toolyard/contract'
import type { ServerResponse } from 'node:http'
import { commentFrame, heartbeatFrame } from './frame.ts'

/*
 * One open response with events.
 *
 * open -> full (64 KiB wait for the reader; whoever writes must stop) -> open again when all of it is gone, or dropped
 * when it is still full a heartbeat later -> closed, whoever closed it.
 */

/** Counts large frames among the answers of their owner that are not read. */
interface FrameCount {
  /** Why no frame of so many bytes may be sent; undefined: it may. */
  refusalOf: (bytes: number) => HttpError | undefined
  /** Gives what is called when the frame has left. */
  hold: (bytes: number) => () => void
}

const bufferBytes = 65_536

const nothing = Buffer.alloc(0)
const unreadFrame = commentFrame('the answers that were not read leave no room for this one; read them, and ask for the job')

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
  readonly #count: FrameCount
  #wasStuck = false

  constructor (response: ServerResponse, count: FrameCount) {
    this.#response = response
    this.#count = count
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

  /** Why no frame of so many bytes may be sent: its owner doesn't read what it was sent before. */
  refusalOf (bytes: number): HttpError | undefined {
    return this.#count.refusalOf(bytes)
  }

  /** A frame for which there is no room ends the stream. */
  send (frame: Buffer): void {
    if (this.isClosed) return
    if (this.refusalOf(frame.length) === undefined) this.#response.write(frame, this.#count.hold(frame.length))
    else this.#response.end(unreadFrame)
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
    this.send(frame)
    if (!this.isClosed) this.#response.end()
  }

  /** Sends a heartbeat, or drops a reader that has been stuck since the last one, also one that doesn't take the end. */
  beat (): void {
    const isStuck = this.isFull || this.#response.writableEnded
    if (isStuck && this.#wasStuck) this.#response.destroy()
    else if (!isStuck) this.send(heartbeatFrame)
    this.#wasStuck = isStuck
  }
}
