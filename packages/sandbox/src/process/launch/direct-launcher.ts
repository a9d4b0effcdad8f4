import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { Marks } from '../table/mark.ts'
import { readProcess } from '../table/process-table.ts'
import type { Child, ChildEnding, Launcher, LaunchRequest } from './child.ts'

type Spawned = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * Starts processes from this one. It holds up the event loop in proportion to the memory of the process, and gives tools
 * sockets for pipes, which they can't open as /dev/stdin.
 */
export function createDirectLauncher (marks: Marks): Launcher {
  return {
    async launch (request) {
      const child = marks.apply(request.mark, () => spawnChild(request))
      child.on('error', () => {})
      if (child.pid === undefined) throw await startFailure(child)
      // A process that closes its stdin, or ends without reading it, is no failure.
      child.stdin.on('error', () => {})
      if (request.stdin !== undefined) child.stdin.end(request.stdin)
      child.once('exit', () => { child.stdin.destroy() })
      return { ...childOf(child, child.pid), ...(request.stdin === undefined ? { stdin: child.stdin } : {}) }
    },
    async prepare () {},
    async close () {}
  }
}

function childOf (child: Spawned, pid: number): Child {
  return {
    pid,
    started: readProcess(pid)?.started,
    stdout: child.stdout,
    stderr: child.stderr,
    release () { for (const stream of [child.stdout, child.stderr]) stream.destroy() },
    exited: new Promise(resolve => { child.once('exit', (code, signal) => { resolve(childEnding(code, signal)) }) }),
    closed: new Promise(resolve => { child.once('close', () => { resolve(true) }) })
  }
}

/** An ending in the words of Node: a code, or the name of a signal. */
export function childEnding (code: number | null, signal: NodeJS.Signals | null): ChildEnding {
  return signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }
}

function spawnChild (request: LaunchRequest): Spawned {
  const descriptors: number[] = []
  try {
    for (const file of request.files) descriptors.push(openSync(file, 'r+'))
    return spawnWith(request, descriptors)
  } finally {
    for (const fd of descriptors) closeSync(fd)
  }
}

function spawnWith ({ plan }: LaunchRequest, descriptors: readonly number[]): Spawned {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What `stdio` below makes; with a spread, the types don't tell.
  return spawn(plan.program, plan.args, {
    cwd: plan.cwd,
    ...(plan.name === undefined ? {} : { argv0: plan.name }),
    // Node adds this variable from its own environment unless it finds it here.
    env: { NODE_V8_COVERAGE: undefined, ...plan.env },
    detached: true,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors]
  }) as Spawned
}

async function startFailure (child: Spawned): Promise<unknown> {
  const thrown: unknown[] = await once(child, 'error')
  // Without descriptors left, Node makes no streams, whatever its types say.
  for (const stream of (child.stdio as Spawned['stdio'] | undefined) ?? []) stream?.destroy()
  return thrown[0]
}
