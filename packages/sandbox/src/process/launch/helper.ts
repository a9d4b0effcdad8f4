import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, unlinkSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { createServer } from 'node:net'
import { startFirstToEnd } from '../table/memory-order.ts'
import { childrenOf, namespacePids } from '../table/process-table.ts'
import { codeOf, createOwnGroups } from './own-groups.ts'
import type { HelperMessage, HelperRequest, JoinMessage, ListenMessage, MakePipesMessage, StartMessage } from './messages.ts'

/*
 * A small process that starts processes for a worker, whose own memory may have grown: a fork copies the page tables of
 * all of it. It knows nothing of tools; it gets lines of StartMessage and answers with lines of HelperMessage. Its end
 * is that of everything it has started, and its stdin ends with the worker, however that dies.
 */
const running = new Map<number, ChildProcess>()
/** Ends of pipes that keep the stdin of a process open. */
const held = new Map<number, number>()
/** The descriptor of the channels' directory behind a read-only mount, opened again so that no process inherits it. */
const view = process.argv[2] === 'boxed' ? reopen(3) : undefined
/** The worker's /proc: this process may be in a pid namespace of its own, and the worker knows processes by its own numbers. */
const workersProc = `/proc/self/fd/${reopen(view === undefined ? 3 : 4)}`
const ownPid = Number(readlinkSync(`${workersProc}/self`))
/** How long a process that runs alone stays in the group of the helper, in milliseconds. */
const aloneMs = 50
let rest = ''
const groups = createOwnGroups()

// A terminal sends these to the worker as well, which decides when its calls end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop() ?? ''
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The worker wrote it.
  for (const line of lines) take(JSON.parse(line) as HelperRequest)
}).on('error', leave).on('end', leave)

function take (message: HelperRequest): void {
  switch (message.kind) {
    case 'start': groups.inTurn(() => { answerFor(message, start) }, message.group === undefined); break
    // A call may have used up the number of processes of its share.
    case 'make-pipes': groups.inTurn(() => { answerFor(message, makePipes) }, true); break
    case 'join': answerFor(message, join); break
    case 'listen': void listen(message); break
    case 'let-go': letGo(message.id)
  }
}

/** Whatever one message causes is the answer to that message, and ends nothing else. */
function answerFor<Message extends HelperRequest> (message: Message, act: (message: Message) => void): void {
  try {
    act(message)
  } catch (error) {
    say({ kind: 'failed', id: message.id, error: codeOf(error) })
  }
}

function makePipes ({ id, paths }: MakePipesMessage): void {
  const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' })
  child.once('error', error => { say({ kind: 'failed', id, error: codeOf(error) }) })
  child.once('exit', code => { say(code === 0 ? { kind: 'done', id } : { kind: 'failed', id, error: faultAt(`${paths[0]}-try`) }) })
}

/** Why nothing can be made there: mkfifo(1) tells it only in words. */
function faultAt (path: string): string {
  try {
    closeSync(openSync(path, 'wx'))
    unlinkSync(path)
    return 'mkfifo'
  } catch (error) {
    return codeOf(error)
  }
}

function join (message: JoinMessage): void {
  groups.join(message)
  say({ kind: 'done', id: message.id })
}

/** A listener belongs to the network namespace that it was made in, whoever accepts from it. */
async function listen ({ id, at }: ListenMessage): Promise<void> {
  const heard = await Promise.all(at.map(async (place, index) => await new Promise<boolean>(resolve => {
    const server = createServer()
    server.once('error', () => { resolve(false) })
    server.listen(place, () => {
      process.send?.({ index }, server, {}, () => {
        server.close()
        resolve(true)
      })
    })
  })))
  const unheard = at.flatMap((_, index) => heard[index] === true ? [] : [index])
  say({ kind: 'listening', id, unheard, owner: parentPid() })
}

/** By the worker's numbers. */
function parentPid (): number {
  const stat = readFileSync(`${workersProc}/${ownPid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** It answers when it is back in its own groups: the worker may then end and remove those of the call. */
function start (message: StartMessage): void {
  const { id } = message
  const opened: number[] = []
  try {
    groups.goHome()
    opened.push(openForReading(inputPath(message.pipes), message.pipes.stdin))
    for (const path of [message.pipes.stdout, message.pipes.stderr]) opened.push(openForWriting(path))
    if (message.hold === true) held.set(id, openSync(message.pipes.stdin, constants.O_WRONLY))
    for (const path of Object.values(message.pipes)) unlinkSync(path)
    for (const path of message.files) opened.push(openSync(path, 'r+'))
    if (message.group !== undefined) groups.enterCall(message.group.members)
    let pid: number | undefined
    const child = startFirstToEnd(workersProc, () => spawn(message.program, message.args, {
      cwd: message.cwd, env: message.env, argv0: message.name, detached: true, stdio: opened
    }), ({ pid: ownNumber }) => {
      pid = ownNumber === undefined ? undefined : workersPid(ownNumber)
      return pid
    })
    child.on('error', error => { if (child.pid === undefined) say({ kind: 'failed', id, error: codeOf(error) }) })
    const refused = groups.leaveCall(child.pid === undefined ? [] : message.group?.limits)
    if (child.pid === undefined) letGo(id)
    else run(id, child, pid ?? child.pid, refused)
  } catch (error) {
    letGo(id)
    groups.leaveCall()
    throw error
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

function run (id: number, child: ChildProcess, pid: number, refused: string | undefined): void {
  running.set(id, child)
  const ended = groups.started()
  say({ kind: 'started', id, pid, ...(refused === undefined ? {} : { refused }) })
  child.once('exit', (code, signal) => {
    running.delete(id)
    letGo(id)
    ended()
    say({ kind: 'ended', id, code, signal })
  })
  // What runs alone takes from nobody, and most calls are over by then.
  if (running.size > 1) groups.moveOn()
  else setTimeout(() => { groups.moveOn() }, aloneMs).unref()
}

function letGo (id: number): void {
  const fd = held.get(id)
  held.delete(id)
  if (fd !== undefined) closeSync(fd)
}

/** Through the read-only mount no process can write to it, change it, or mark it in any way. */
function inputPath ({ stdin }: StartMessage['pipes']): string {
  return view === undefined ? stdin : `/proc/self/fd/${view}/${basename(stdin)}`
}

/**
 * Who opens a FIFO for reading waits for a writer, and the worker may be gone by now: this is one for a moment. Else the helper
 * would stand still for good, and all that it has started would stay.
 *
 * @param writable where it may be written to, if it is a FIFO
 */
function openForReading (path: string, writable: string): number {
  const ends = [openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)]
  try {
    if (fstatSync(Number(ends[0])).isFIFO()) ends.push(openSync(writable, constants.O_WRONLY | constants.O_NONBLOCK))
    return openSync(path, constants.O_RDONLY)
  } finally {
    for (const fd of ends) closeSync(fd)
  }
}

/** Who opens a FIFO for writing waits for a reader, and the worker may be gone by now: this is one for a moment. */
function openForWriting (path: string): number {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return openSync(path, constants.O_WRONLY)
  } finally {
    closeSync(reader)
  }
}

function workersPid (pid: number): number | undefined {
  return childrenOf(ownPid, workersProc).findLast(child => namespacePids(child, workersProc).at(-1) === pid)
}

function reopen (fd: number): number {
  const again = openSync(`/proc/self/fd/${fd}`, constants.O_DIRECTORY)
  closeSync(fd)
  return again
}

function say (message: HelperMessage): void {
  try {
    writeSync(1, `${JSON.stringify(message)}\n`)
  } catch {
    leave()
  }
}

function leave (): void {
  for (const { pid } of running.values()) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  process.exit()
}
