import { createServer } from 'node:http'
import { findOnPath } from '@toolyard/sandbox'
import { createService } from '../../support/service.ts'
import { listening } from '../../support/listening.ts'
import { ratioAtMost, type Measure, type Stage, type Unable } from '../frame/row.ts'
import { p50, pausedP50 } from '../sample.ts'
import { serviceCalls } from './service-calls.ts'

/** How much later a call in a network may start. */
const networkMs = 3
const megabytes = 256

/** Commands whose entry names hosts, beside the same commands without. */
export const networks: Stage = {
  title: 'Networks by name, beside commands without',
  rows: {
    'egress-start': { what: '`cat` in a network of one host, 60 ms after the last one, p50', yardstick: `the same without a network, and ${networkMs} ms`, unit: 'ms', target: ratioAtMost(1) },
    'egress-rate': { what: `curl of ${megabytes} MB through the proxy`, yardstick: 'the same with the permission `network`', unit: 'MB/s', target: { of: 'value', bound: 'at least', number: 200 } }
  },
  open: async ({ cleanup, size }) => {
    const sent = size(megabytes, 8)
    const port = await serveMegabytes(cleanup, sent)
    const curl = findOnPath('curl', process.env['PATH'])
    const fetching = [curl ?? '/usr/bin/curl', '-sSf', '-o', '/dev/null', '-w', '%{speed_download}', `http://127.0.0.2:${port}/`]
    const tool = (name: string, command: string[], more: object): object => ({ name, schema: { type: 'object' }, command, permissions: [], ...more })
    const network = [`127.0.0.2:${port}`]
    const service = await createService(cleanup, {
      env: { LOG_LEVEL: 'warn' },
      tools: [
        tool('alone', ['/bin/cat'], {}),
        tool('in_network', ['/bin/cat'], { network }),
        tool('fetch_direct', fetching, { permissions: ['network'] }),
        tool('fetch', fetching, { network })
      ]
    })
    const call = (name: string) => async (): Promise<string> => await serviceCalls(service, { name, args: {} }).batch(1)
    const [alone, inNetwork] = [call('alone'), call('in_network')]
    for (const warmUp of [alone, inNetwork]) await p50(size(30, 2), warmUp)
    const speedOf = (name: string) => async (): Promise<number> => {
      const output = /"output":"?([\d.]+)/.exec(await call(name)())?.[1]
      if (output === undefined) throw new Error(`${name} told no speed`)
      return Number(output) / 1e6
    }
    const rate: Measure | Unable = curl === undefined ? { unable: 'curl is not installed' } : { yardstick: speedOf('fetch_direct'), subject: speedOf('fetch'), rounds: 5 }
    return {
      'egress-start': { yardstick: async () => networkMs + await pausedP50(size(15, 2), alone), subject: async () => await pausedP50(size(15, 2), inNetwork) },
      'egress-rate': rate
    }
  }
}

async function serveMegabytes (cleanup: Parameters<Stage['open']>[0]['cleanup'], count: number): Promise<number> {
  const block = Buffer.alloc(2 ** 20, 'x')
  const server = createServer((_request, response) => {
    let left = count
    response.setHeader('content-length', count * block.length)
    const write = (): void => {
      while (left-- > 0) if (!response.write(block)) return
      response.end()
    }
    response.on('drain', write)
    write()
  })
  return await listening(cleanup, server, '127.0.0.2')
}
