import { createHash } from 'node:crypto'
import { request } from 'undici'
import { asError } from '@toolyard/contract/terms'
import { openConnections } from '@toolyard/runtime/connections'
import { readBounded } from '@toolyard/runtime/outgoing'
import { CommandError } from '../terminal/exit-status.ts'

const most = { bytes: 67_108_864, redirects: 5, ms: 120_000 }

/** Reads a file over https. Redirects lead to https on public hosts alone, and what comes must have the digest. @throws CommandError */
export async function download (url: string, sha256: string): Promise<Buffer> {
  const connections = openConnections({ allowPrivate: false })
  const signal = AbortSignal.timeout(most.ms)
  try {
    let at = new URL(url)
    for (let redirects = 0; redirects <= most.redirects; redirects++) {
      if (at.protocol !== 'https:') throw fault(url, `redirects to ${at.protocol}//${at.host}, which is not https`)
      connections.checkHost(at.hostname)
      const { statusCode, headers, body } = await request(at, { dispatcher: connections.dispatcher, signal, headers: { 'accept-encoding': 'identity' } })
      const { location } = headers
      if (statusCode >= 300 && statusCode < 400 && typeof location === 'string' && URL.canParse(location, at.href)) {
        await body.dump()
        at = new URL(location, at)
        continue
      }
      if (statusCode !== 200) throw fault(url, `answers with status ${statusCode}`)
      const { bytes: content, truncated } = await readBounded(body, most.bytes)
      if (truncated) throw fault(url, `has more than ${most.bytes} bytes`)
      const found = createHash('sha256').update(content).digest('hex')
      if (found !== sha256) throw fault(url, `has the digest ${found}, and ${sha256} was asked for`)
      return content
    }
    throw fault(url, `redirects more than ${most.redirects} times`)
  } catch (error) {
    throw error instanceof CommandError ? error : fault(url, `can't be read: ${asError(error).message}`)
  } finally {
    await connections.close()
  }
}

function fault (url: string, what: string): CommandError {
  return new CommandError(`${url} ${what}`, { code: 'SOURCE' })
}
