import { createServer } from 'node:net'
import { StartError } from '../supervision/start-error.ts'

/**
 * Finds out early whether an address is free, while nothing has been started yet.
 *
 * @throws StartError with the remedy when it isn't.
 */
export function checkPort (host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => { reject(new StartError(explain(error, host, port))) })
    server.listen({ host, port, exclusive: true }, () => { server.close(() => { resolve() }) })
  })
}

function explain (error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another: PORT=${port + 1} toolyard start`
  if (error.code === 'EACCES') return `this user may not listen on port ${port}. Choose one above 1023: PORT=3001 toolyard start`
  return `can't listen on ${host}:${port} (${error.code ?? error.message}). HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`
}
