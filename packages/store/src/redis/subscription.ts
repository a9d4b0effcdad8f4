import { asError } from '@toolyard/contract/terms'
import type { Redis } from './ioredis.ts'

/** After Redis has refused a subscription, as while it loads its data; in milliseconds. */
const againMs = 500

/** By each subscriber's connection. */
const channelsOf = new WeakMap<Redis, Set<string>>()

/**
 * Subscribes again after each reconnect of a new connection, until Redis accepts. ioredis itself would do so once, and
 * not handle a refusal: the unhandled rejection ends the process.
 *
 * @param onError gets the error when Redis refuses.
 */
export function keepSubscribed (subscriber: Redis, onError: (error: Error) => void): void {
  const channels = new Set<string>()
  channelsOf.set(subscriber, channels)
  let timer: NodeJS.Timeout | undefined
  const subscribeAgain = (): void => {
    if (channels.size === 0) return
    subscriber.subscribe(...channels).catch((error: unknown) => {
      // After another reconnect it is tried anyway.
      if (subscriber.status !== 'ready') return
      onError(asError(error))
      clearTimeout(timer)
      timer = setTimeout(subscribeAgain, againMs).unref()
    })
  }
  subscriber.on('ready', subscribeAgain)
  subscriber.on('close', () => { clearTimeout(timer) })
}

/** Listens to a channel, also after a reconnect; resolves when the subscription stands. */
export async function listen (subscriber: Redis, channel: string): Promise<void> {
  channelsOf.get(subscriber)?.add(channel)
  await subscriber.subscribe(channel)
}

export async function unlisten (subscriber: Redis, channel: string): Promise<void> {
  channelsOf.get(subscriber)?.delete(channel)
  await subscriber.unsubscribe(channel)
}

/** Listens to one channel over a connection that others share; resolves when the subscription stands. */
export async function subscribe (subscriber: Redis, channel: string, onMessage: (message: string) => void): Promise<void> {
  subscriber.on('message', (from: string, message: string) => {
    if (from === channel) onMessage(message)
  })
  await listen(subscriber, channel)
}
