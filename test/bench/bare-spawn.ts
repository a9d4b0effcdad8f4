import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { p50, throughput } from './sample.ts'

/** A command line, the files that it gets as descriptors from 3 on, and how much it prints. */
export interface BareLine {
  argv: readonly string[]
  files: readonly string[]
  bytes: number
}

/** For the process that runs this module; it answers with the median in milliseconds, or with calls per second. */
export interface BareRequest extends BareLine {
  of: 'time' | 'rate'
  runs: number
  inFlight: number
}

/** For every line's stdin. */
export const bareInput = '{"a":1}'

/** A `child_process.spawn` of a line. */
async function spawnBare ({ argv, files, bytes }: BareLine): Promise<void> {
  const descriptors = files.map(file => openSync(file, 'r+'))
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors]
  }) as ChildProcessWithoutNullStreams
  for (const fd of descriptors) closeSync(fd)
  let [printed, complaint] = [0, '']
  child.stdout.on('data', (chunk: Buffer) => { printed += chunk.length })
  child.stderr.on('data', (chunk: Buffer) => { complaint += String(chunk) })
  // One that doesn't read its stdin may end first.
  child.stdin.on('error', () => {}).end(bareInput)
  await once(child, 'close')
  if (printed !== bytes) throw new Error(`the bare spawn of ${argv.join(' ').slice(-200)} printed ${printed} bytes, not ${bytes}: ${complaint}`)
}

if (process.send !== undefined) {
  process.on('message', (request: BareRequest) => {
    const { of, runs, inFlight } = request
    const run = async (): Promise<void> => { await spawnBare(request) }
    void (of === 'time' ? p50(runs, run) : throughput(runs, inFlight, 1, run)).then(number => { process.send?.(number) })
  })
}
