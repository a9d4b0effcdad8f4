import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createChannelStock, type ChannelStock, type OpenChannel } from './channel-stock.ts'
import type { Child, Launcher, LaunchRequest } from './child.ts'
import { startHelper, type HelperProcess } from './helper-process.ts'

/**
 * Starts processes through a small helper process, so that a start takes no longer, and holds up nobody, when this
 * process has grown (fault 11); stdout and stderr are real pipes, stdin is a file without a name. A helper that was lost is replaced.
 *
 * @param members files of the control groups that it belongs to
 * @param prefix a command line in front of the helper's, which sets the limits that hold for all processes
 */
export function createHelperLauncher (prefix: readonly string[], members: readonly string[]): Launcher {
  let helper: HelperProcess | undefined
  let channels: ChannelStock | undefined
  let joined = Promise.resolve()
  const current = (): HelperProcess => {
    if (helper?.isAlive() === true) return helper
    helper = startHelper(prefix)
    // It takes its messages in order: whatever it starts is in there.
    if (members.length > 0) joined = helper.join(members)
    return helper
  }
  const stock = (): ChannelStock => {
    channels ??= createChannelStock(async paths => { await current().makePipes(paths) })
    return channels
  }

  return {
    async launch (request) {
      const channel = await stock().take(request.stdin)
      const starter = current()
      await joined
      return await launchThrough(starter, channel, request)
    },
    async prepare () {
      const { reading, release } = await stock().take('')
      for (const fd of reading) closeSync(fd)
      release(true)
      await joined
    },
    async close () {
      const last = channels
      channels = undefined
      await last?.close()
      await helper?.close()
    }
  }
}

/** A pipe that nobody has open for writing reads as ended, so reading begins once the process has it. */
async function launchThrough (helper: HelperProcess, { paths, reading, release }: OpenChannel, { plan, descriptors, mark, group }: LaunchRequest): Promise<Child> {
  try {
    const { program, args, env, cwd } = plan
    checkNul([program, cwd, ...args, ...Object.values(env)])
    const { pid, started, exited } = await helper.start({
      program,
      args,
      env,
      cwd,
      pipes: paths,
      files: descriptors.map(fd => `/proc/${process.pid}/fd/${fd}`),
      ...(mark === undefined ? {} : { mark }),
      ...(group === undefined ? {} : { group: { members: group.members, limits: group.limits } })
    })
    const streams = reading.map(fd => new Socket({ fd, readable: true, writable: false }))
    const [stdout, stderr] = streams as [Socket, Socket]
    return {
      pid,
      started,
      stdout,
      stderr,
      exited,
      closed: Promise.all([exited, ...streams.map(closeOf)]).then(() => true),
      release (nothingLeft) {
        for (const stream of streams) stream.destroy()
        release(nothingLeft)
      }
    }
  } catch (error) {
    for (const fd of reading) closeSync(fd)
    // The process may run, if the helper is lost.
    release(false)
    throw error
  }
}

async function closeOf (stream: Socket): Promise<void> {
  await new Promise<void>(resolve => { stream.once('close', () => { resolve() }) })
}

/** As `child_process.spawn` does: the kernel would take the text for a shorter one. */
function checkNul (texts: readonly string[]): void {
  if (texts.some(text => text.includes('\0'))) throw Object.assign(new Error('NUL'), { code: 'ERR_INVALID_ARG_VALUE' })
}
