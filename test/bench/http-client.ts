import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Posts a JSON body over a kept connection; the lightest client there is, so that the service is what is measured. */
export async function post (url: string, key: string, body: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-api-key': key }
    }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => { resolve(Buffer.concat(chunks).toString()) })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
