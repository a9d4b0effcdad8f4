import { writeJson } from '@toolyard/contract/terms'

/** Tells a browser how long to wait before it connects again, in milliseconds. */
export const retryFrame = Buffer.from('retry: 2000\n\n')
/** Keeps proxies from closing a stream on which nothing happens. */
export const heartbeatFrame = commentFrame('heartbeat')

/**
 * One event as it goes over the wire. The data is one line of JSON, so that nothing in it can begin another field;
 * `id` makes it the place from which a reader resumes.
 */
export function eventFrame (name: string, data: unknown, id?: string): Buffer {
  return Buffer.from(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${writeJson(data)}\n\n`)
}

/** The same of data that is JSON already, in one line. */
export function jsonFrame (name: string, json: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), ...json, Buffer.from('\n\n')])
}

export function commentFrame (text: string): Buffer {
  return Buffer.from(`: ${text}\n\n`)
}
