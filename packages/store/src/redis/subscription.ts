import type { Redis } from './connection.ts'

/** Listens to one channel over a connection that others share; resolves when the subscription stands. */
export async function subscribe (subscriber: Redis, channel: string, onMessage: (message: string) => void): Promise<void> {
  subscriber.on('message', (from: string, message: string) => {
    if (from === channel) onMessage(message)
  })
  await subscriber.subscribe(channel)
}
