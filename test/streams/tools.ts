import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createService, type Service } from '../support/service.ts'

/** A program that talks on stderr while it runs, and its manifest entry. */
export const chatterFiles = {
  'tools/bin/chatter': `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', async () => {
  const { lines = 0, everyMs = 0, pad = 0, say, output = 'done', stopAt } = JSON.parse(text || '{}')
  const { existsSync } = require('node:fs')
  const wait = ms => new Promise(resolve => setTimeout(resolve, ms))
  if (say !== undefined) process.stderr.write(say + '\\n')
  for (let index = 0; index < lines; index++) {
    process.stderr.write('line ' + index + ' ' + 'x'.repeat(pad) + '\\n')
    if (everyMs > 0) await wait(everyMs)
  }
  // Goes on until the test says so.
  while (stopAt !== undefined && !existsSync(stopAt)) await wait(20)
  process.stdout.write(JSON.stringify(output))
})
`
}

export const chatterEntry = { name: 'chatter', schema: { type: 'object' }, command: ['./tools/bin/chatter'], timeoutSec: 60 }

export function chatterLines (from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}`)
}

/** A service with that tool, and what tests of its streams do again and again. */
export async function createChatter (t: Test): Promise<{
  service: Service
  submit: (args: object) => Promise<string>
  streamUrl: (id: string, address?: string) => string
  /** Lets a program go on that stops at a file of this name. */
  release: (name: string) => Promise<void>
}> {
  const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { SSE_HEARTBEAT_SEC: '0.2' } })
  return {
    service,
    submit: async args => {
      const { results: [result] } = await service.client.batch([{ call_id: 'c', name: 'chatter', arguments: args }], { mode: 'async' })
      return result?.job_id ?? ''
    },
    streamUrl: (id, address = service.api.address) => `${address}/v1/jobs/${id}/stream`,
    release: async name => { await writeFile(join(service.dir, 'workspace', name), '') }
  }
}
