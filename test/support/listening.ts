import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { Cleanup } from './cleanup.ts'

/** Lets a server listen on this machine alone; it is closed with all its connections when the test ends. @returns its port */
export async function listening (cleanup: Cleanup, server: Server & { closeAllConnections?: () => void }, host = '127.0.0.1', port = 0): Promise<number> {
  await once(server.listen(port, host), 'listening')
  cleanup.teardown(() => {
    server.closeAllConnections?.()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
