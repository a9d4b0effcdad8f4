import { orElse } from '@toolyard/contract/terms'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Connections } from './connections.ts'

/** The pipes that a process in a box has made, as long as it lives. */
interface PipeSource {
  /**
   * Opens this process's ends of the pipes of one process that it has forked.
   *
   * @param descriptors what `forker.py` says: of its ends to write requests to, to read replies and output from
   * @returns undefined when they aren't (or no longer) such pipes, or this process is out of descriptors
   */
  open (descriptors: unknown): Connections | undefined
  close (): void
}

/**
 * Opens pipes by the descriptors of another process of this user. It is held by its directory: should it end, and its
 * pid be given to another one, there is nothing to open any more. It may have imported a module, so what isn't a pipe is
 * not taken.
 *
 * @param find the process's pid, asked for once
 * @throws never
 */
export function createPipeSource (find: () => number | undefined): PipeSource {
  let directory: number | undefined
  let closed = false

  function openDirectory (): number | undefined {
    const pid = find()
    if (closed || pid === undefined) return undefined
    return orElse(() => openSync(`/proc/${pid}/fd`, constants.O_RDONLY | constants.O_DIRECTORY), undefined)
  }

  function openPipe (descriptor: unknown, access: number): number | undefined {
    directory ??= openDirectory()
    if (directory === undefined || !Number.isSafeInteger(descriptor)) return undefined
    const path = `/proc/self/fd/${directory}/${Number(descriptor)}`
    const fd = orElse(() => openSync(path, access | constants.O_NONBLOCK | constants.O_NOCTTY), undefined)
    if (fd === undefined || fstatSync(fd).isFIFO()) return fd
    closeSync(fd)
    return undefined
  }

  return {
    open (descriptors) {
      const [requests, replies, output] = Array.isArray(descriptors) ? descriptors as unknown[] : []
      const opened = [openPipe(requests, constants.O_WRONLY), openPipe(replies, constants.O_RDONLY), openPipe(output, constants.O_RDONLY)]
      const [first, second, third] = opened
      if (first !== undefined && second !== undefined && third !== undefined) return connectionsOf(first, second, third)
      for (const fd of opened) if (fd !== undefined) closeSync(fd)
      return undefined
    },
    close () {
      closed = true
      if (directory !== undefined) closeSync(directory)
      directory = undefined
    }
  }
}

function connectionsOf (requests: number, replies: number, output: number): Connections {
  const connections = {
    requests: new Socket({ fd: requests, readable: false, writable: true }),
    replies: new Socket({ fd: replies, readable: true, writable: false }),
    output: new Socket({ fd: output, readable: true, writable: false })
  }
  for (const socket of Object.values(connections)) socket.on('error', () => {})
  // Who writes no more, reads no more.
  connections.replies.once('close', () => { connections.requests.destroy() })
  return connections
}
