import { createServer } from 'node:net'
import { listenFailure, type ListenPlace, type Settings } from '@toolyard/runtime'
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

function checkPort (host: string, port: number, setting: ListenPlace['setting']): Promise<void> {
  return new Promise((resolve, reject) => {
    const place = { host, port, setting, command: 'toolyard start' }
    const server = createServer()
    server.once('error', error => { reject(new StartError(listenFailure(error, place).message)) })
    server.listen({ host, port, exclusive: true }, () => { server.close(() => { resolve() }) })
  })
}
