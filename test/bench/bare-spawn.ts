import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { throughput } from './sample.ts'

/** A command line, and the files that it gets as descriptors from 3 on. */
export interface BareLine {
  argv: readonly string[]
  files: readonly string[]
}

/** What the process that runs this module is asked; it answers with calls per second. */
export interface RateRequest extends BareLine {
  runs: number
  inFlight: number
}

/** A `child_process.spawn` of a line that hands back its stdin. */
export async function spawnBare ({ argv, files }: BareLine): Promise<void> {
  const descriptors = files.map(file => openSync(file, 'r+'))
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors]
  }) as ChildProcessWithoutNullStreams
  for (const fd of descriptors) closeSync(fd)
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => { text += String(chunk) })
  child.stdin.end('{"a":1}')
  await once(child, 'close')
  if (text !== '{"a":1}') throw new Error(`the bare spawn went wrong: ${text}`)
}

if (process.send !== undefined) {
  process.on('message', (request: RateRequest) => {
    void throughput(request.runs, request.inFlight, 1, async () => { await spawnBare(request) }).then(rate => { process.send?.(rate) })
  })
}
