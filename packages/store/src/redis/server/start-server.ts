import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { programEnd, programPaths, runProgram } from '@toolyard/runtime/install'
import { askRedis } from './resp.ts'
import { RedisServerError } from './server-error.ts'
import { reserveSocket } from './socket-path.ts'

export interface RedisServerOptions {
  binary: string
  /** Holds the data and the socket; made when missing, closed to other users. One server at a time: the caller sees to that. */
  dir: string
  /** Whether to keep data over restarts (append-only file, written every second). */
  aof: boolean
}

/** A Redis server that belongs to this process. */
export interface RedisServer {
  /** `unix:` and the absolute path of its socket, as it is. */
  url: string
  pid: number
  /** Stops the server and waits for its end; after 10 s it is killed. */
  stop: () => Promise<void>
  /** Resolves with how it ended: `exit status 0`, `signal SIGKILL`. */
  exited: Promise<string>
}

/** How long a server may be silent before it answers for the first time; while it loads its data it may take longer. */
const patienceMs = 15_000
const stopMs = 10_000
const shownLogBytes = 1_500

/**
 * Starts a Redis server for this process alone, on a Unix socket, and waits until it answers.
 * It is in a process group of its own, so that Ctrl-C in the terminal doesn't stop it before those who use it.
 * Where `setpriv` can do it (Linux), the server is told to stop when this process dies; elsewhere one that is left over
 * is stopped by the next start in the same directory.
 *
 * @throws RedisServerError with the end of the server's log when it doesn't start.
 */
export async function startRedisServer (options: RedisServerOptions): Promise<RedisServer> {
  const { dir } = options
  const logFile = join(dir, 'redis.log')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await chmod(dir, 0o700)
  const socket = await reserveSocket(dir)
  const { child, exited } = await launch(options, socket.path, logFile)
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const deadline = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(deadline)
    await socket.remove()
  }
  const problem = await waitForAnswer(socket.path, exited)
  if (problem !== undefined || child.pid === undefined) {
    await stop()
    throw new RedisServerError(`The embedded Redis server could not start: ${problem ?? 'it has no process'}.\n${await endOf(logFile)}`)
  }
  return { url: `unix:${socket.path}`, pid: child.pid, stop, exited }
}

async function launch (
  options: RedisServerOptions, socket: string, logFile: string
): Promise<{ child: ChildProcess, exited: Promise<string> }> {
  const [program, ...before] = await diesWithParent(options.binary)
  const log = await open(logFile, 'a', 0o600)
  try {
    const args = [...before, ...serverArguments(options, socket)]
    // An empty environment: the service's secrets are none of the server's business.
    const child = spawn(program, args, { cwd: options.dir, env: {}, detached: true, stdio: ['ignore', log.fd, log.fd] })
    return { child, exited: programEnd(child) }
  } finally {
    await log.close()
  }
}

/** The server's command line, through `setpriv --pdeathsig` where that works (BusyBox's can't). */
async function diesWithParent (binary: string): Promise<[string, ...string[]]> {
  const [setpriv] = await programPaths('setpriv', process.env)
  const wrapped = ['--pdeathsig', 'TERM', '--', binary]
  const works = setpriv !== undefined && (await runProgram(setpriv, [...wrapped, '--version'], process.env, 5_000)).ok
  return works ? [setpriv, ...wrapped] : [binary]
}

function serverArguments ({ dir, aof }: RedisServerOptions, socket: string): string[] {
  const settings = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir,
    daemonize: 'no',
    // Standard output, which is the log file.
    logfile: '',
    // Only the append-only file keeps the data.
    save: '',
    appendonly: aof ? 'yes' : 'no',
    appendfsync: 'everysec',
    // A queue must refuse new jobs when memory is full, never drop some.
    'maxmemory-policy': 'noeviction'
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

/** Resolves with undefined once the server answers, else with what went wrong. */
async function waitForAnswer (socket: string, exited: Promise<string>): Promise<string | undefined> {
  let deadline = performance.now() + patienceMs
  for (;;) {
    const reply = await askRedis(socket, 'PING').catch(() => undefined)
    if (reply === '+PONG') return undefined
    if (reply?.startsWith('-LOADING') === true) deadline = performance.now() + patienceMs
    if (performance.now() > deadline) return `it gave no answer within ${patienceMs / 1000} s`
    const end = await Promise.race([exited, delay(20)])
    if (end !== undefined) return end
  }
}

async function endOf (logFile: string): Promise<string> {
  const log = await readFile(logFile)
  return `The end of ${logFile}:\n${log.subarray(-shownLogBytes).toString('utf8').trimEnd()}`
}
