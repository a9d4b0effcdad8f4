import { createServer } from 'node:net'
import type { Settings } from '@toolyard/runtime'
import { StartError } from '../supervision/start-error.ts'

const lastPort = 65_535

/**
 * Finds out early whether the addresses are free, while nothing has been started yet.
 *
 * @throws StartError with the remedy when one isn't.
 */
export async function checkPorts ({ HOST: host, PORT: port, METRICS_PORT: metrics = 0 }: Settings): Promise<void> {
  await checkPort(host, port, 'PORT')
  if (metrics === 0) return
  const ports = [metrics, metrics + 1]
  if (ports.includes(port) || metrics === lastPort) {
    throw new StartError(`METRICS_PORT=${metrics} takes the ports ${ports.join(' and ')}, the second for the workers, and PORT is ${port}: choose another METRICS_PORT, such as ${port + 1}`)
  }
  for (const each of ports) await checkPort(host, each, 'METRICS_PORT')
}

function checkPort (host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => { reject(new StartError(explain(error, { host, port, setting }))) })
    server.listen({ host, port, exclusive: true }, () => { server.close(() => { resolve() }) })
  })
}

interface Place {
  host: string
  port: number
  setting: string
}

function explain (error: NodeJS.ErrnoException, { host, port, setting }: Place): string {
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another: ${setting}=${port + 1} toolyard start`
  if (error.code === 'EACCES') return `this user may not listen on port ${port}. Choose one above 1023: ${setting}=${setting === 'PORT' ? 3001 : 9090} toolyard start`
  return `can't listen on ${host}:${port} (${error.code ?? error.message}). HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`
}
