import { closeSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { within } from '@toolyard/runtime'
import { unlessInterrupted } from '../plan/deadline.ts'
import { closing } from '../end/drain.ts'
import { killBox } from '../table/box-kill.ts'
import type { HelperGroups, ProcessGroups } from '../table/groups.ts'
import { createChannelStock, later, type Channel, type ChannelStock } from './channel-stock.ts'
import { maxElementBytes } from '../plan/plan.ts'
import { isShortage } from '../plan/start-error.ts'
import type { Child, Launcher, LaunchRequest } from './child.ts'
import { closeMs, startHelper, type HelperPlace, type HelperProcess, type Launched } from './helper-process.ts'

/**
 * Starts boxes through a small helper process, so that a start takes no longer, and blocks nothing, when this
 * process has grown; stdout and stderr are real pipes, stdin is a file without a name. A helper that was lost is replaced.
 *
 * @param groups absent: what it starts is in no control groups but those of this process
 */
export function createLauncher (place: HelperPlace, groups?: Pick<ProcessGroups, 'ofHelper'>): Launcher {
  let helper: HelperProcess | undefined
  let channels: { directory: string, stock: ChannelStock } | undefined
  let joined = Promise.resolve()
  let closed = false
  const current = (): HelperProcess => {
    if (closed) throw Object.assign(new Error('the launcher is closed'), { code: 'HELPER_LOST' })
    if (helper?.isAlive() === true) return helper
    helper = startHelper(place)
    // It takes its messages in order: whatever it starts is in there.
    if (groups !== undefined) joined = joinedOrClosed(helper, groups.ofHelper())
    if (place.network !== undefined) joined = Promise.all([joined, heardOrClosed(helper, place.network)]).then(() => {})
    // Who starts something hears of it; a helper that dies before is no reason to end this process.
    joined.catch(() => {})
    return helper
  }
  const open = (): NonNullable<typeof channels> => {
    if (channels !== undefined) return channels
    const directory = place.channels?.directory ?? mkdtempSync(join(tmpdir(), 'toolyard-pipes-'))
    channels = { directory, stock: createChannelStock(directory, async paths => { await current().makePipes(paths) }) }
    return channels
  }

  /** A failure here is not the program's fault. */
  const take = async ({ stdin, ahead }: LaunchRequest): Promise<Channel> => {
    try {
      return await open().stock.take(ahead === true ? later : stdin)
    } catch (error) {
      throw isShortage(error) || errorCode(error) === 'HELPER_LOST' ? error : Object.assign(new Error('no channel'), { code: 'CHANNELS' })
    }
  }

  return {
    async launch (request) {
      const { interrupted } = request
      const channel = await unlessGivenUp(take(request), interrupted, async begun => { (await begun).abandon() })
      try {
        const starter = current()
        await unlessGivenUp(joined, interrupted, async () => {})
        return await launchThrough(starter, channel, request)
      } catch (error) {
        channel.abandon()
        throw error
      }
    },
    async prepare () {
      const channel = await open().stock.take('')
      channel.abandon()
      await joined
    },
    async close () {
      closed = true
      const last = channels
      channels = undefined
      if (last !== undefined) await within(closeMs, last.stock.settled())
      await helper?.close()
      // A mkfifo that a lost helper began may still make FIFOs, so the removal is repeated.
      if (last !== undefined && place.channels === undefined) {
        await rm(last.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
      }
    }
  }
}

/** A helper outside of its groups starts nothing: the next start gets another one. */
function joinedOrClosed (helper: HelperProcess, groups: HelperGroups): Promise<void> {
  const joined = helper.join(groups)
  joined.catch(() => { void helper.close() })
  return joined
}

/** The helper finds the listeners there. */
function heardOrClosed (helper: HelperProcess, { at, onListening }: NonNullable<HelperPlace['network']>): Promise<void> {
  const heard = helper.listen(at).then(({ servers, owner }) => { onListening(servers, owner) })
  heard.catch(() => { void helper.close() })
  return heard
}

/** Rejects as soon as the start is given up. */
async function unlessGivenUp<T> (begun: Promise<T>, interrupted: LaunchRequest['interrupted'], undo: (begun: Promise<T>) => Promise<unknown>): Promise<T> {
  if (interrupted === undefined) return await begun
  const first = await unlessInterrupted(begun, interrupted, undo)
  if (first.kind !== 'done') throw new Error('the start was given up')
  return first.value
}

/** A pipe that no process has open for writing reads as ended, so reading begins once the process has it. */
async function launchThrough (
  helper: HelperProcess, { paths, reading, writing, later, abandon }: Channel,
  { plan, files, group, hold, interrupted }: LaunchRequest
): Promise<Child> {
  const { program, args, env, cwd, name } = plan
  checkElements([program, cwd, ...args, ...Object.values(env)])
  const starting = helper.start({
    program,
    args,
    env,
    cwd,
    name,
    pipes: paths,
    files: later === undefined ? files : [...files, later.order],
    hold,
    group: group && { members: group.members, limits: group.limits }
  })
  const undo = async (begun: Promise<Launched>): Promise<void> => {
    // Without its channel it isn't begun any more, unless the helper has just done that.
    abandon()
    await killBox((await begun).pid)
  }
  const { pid, refused, exited, letGo } = await unlessGivenUp(starting, interrupted, undo)
  if (refused !== undefined) {
    await killBox(pid)
    throw Object.assign(new Error('not bounded'), { code: refused })
  }
  if (writing !== undefined) closeSync(writing.held)
  const pipe = writing === undefined ? undefined : new Socket({ fd: writing.pipe, readable: false, writable: true })
  const begun = later === undefined || pipe === undefined ? undefined : beginning(later, pipe)
  const [stdout, stderr] = [readerOf(reading[0]), readerOf(reading[1])]
  const streams = [stdout, stderr]
  return {
    pid,
    ...(begun !== undefined ? { begin: begun.begin } : pipe === undefined ? {} : { stdin: pipe }),
    ...(hold === true ? { letGo } : {}),
    stdout,
    stderr,
    exited,
    closed: Promise.all([exited, ...streams.map(closing)]).then(() => true),
    release () {
      begun?.close()
      for (const stream of [...streams, pipe]) stream?.destroy()
    }
  }
}

function beginning ({ stdin, order: path }: NonNullable<Channel['later']>, pipe: Socket): { begin: NonNullable<Child['begin']>, close: () => void } {
  // The process has it open.
  rmSync(path, { force: true })
  pipe.on('error', () => {})
  let open = true
  const close = (): void => {
    if (open) closeSync(stdin)
    open = false
  }
  return {
    begin (order, text) {
      writeFileSync(stdin, text)
      close()
      pipe.end(order)
    },
    close
  }
}

/**
 * As `child_process.spawn` does: the kernel would take a text with a NUL for a shorter one. What it refuses as too long isn't
 * sent to the helper: to write and read a megabyte takes longer than a call may hold up the rest.
 */
function checkElements (texts: readonly string[]): void {
  if (texts.some(text => text.length > maxElementBytes)) throw Object.assign(new Error('too long'), { code: 'E2BIG' })
  if (texts.some(text => text.includes('\0'))) throw Object.assign(new Error('NUL'), { code: 'ERR_INVALID_ARG_VALUE' })
}

function readerOf (fd: number): Socket {
  return new Socket({ fd, readable: true, writable: false })
}
