import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Child, Launcher, LaunchRequest } from './child.ts'
import { startHelper, type HelperProcess } from './helper-process.ts'
import { createPipeStock, type PipeStock } from './pipe-stock.ts'

/**
 * Starts processes through a small helper process, so that a start takes no longer, and holds up nobody, when this
 * process has grown (fault 11); stdout and stderr are real pipes, stdin is a file that is gone. A helper that was lost is replaced.
 *
 * @param members files of the control groups that it belongs to
 * @param prefix a command line in front of the helper's, which sets the limits that hold for all processes
 */
export function createHelperLauncher (prefix: readonly string[], members: readonly string[]): Launcher {
  let helper: HelperProcess | undefined
  let pipes: PipeStock | undefined
  let joined = Promise.resolve()
  const current = (): HelperProcess => {
    if (helper?.isAlive() === true) return helper
    helper = startHelper(prefix)
    // It takes its messages in order: whatever it starts is in there.
    if (members.length > 0) joined = helper.join(members)
    return helper
  }
  const stock = (): PipeStock => {
    pipes ??= createPipeStock(async paths => { await current().makePipes(paths) })
    return pipes
  }

  return {
    async launch (request) {
      const paths = await stock().take(2)
      const starter = current()
      await joined
      return await launchThrough(starter, paths, request)
    },
    async prepare () {
      const paths = await stock().take(1)
      for (const path of paths) rmSync(path)
      await joined
    },
    async close () {
      await pipes?.close()
      await helper?.close()
    }
  }
}

/** A pipe that nobody has open for writing reads as ended, so reading begins once the process has it. */
async function launchThrough (helper: HelperProcess, [stdout = '', stderr = '']: string[], { plan, stdin: input, descriptors, mark, group }: LaunchRequest): Promise<Child> {
  const stdin = `${stdout}-stdin`
  const paths = [stdin, stdout, stderr]
  const opened: number[] = []
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags | constants.O_NONBLOCK)
    opened.push(fd)
    return fd
  }
  try {
    // A file: who opens a FIFO by the path of its descriptor waits for somebody to write, when all is written.
    writeFileSync(stdin, input, { mode: 0o600, flag: 'wx' })
    const ends = { stdout: open(stdout, constants.O_RDONLY), stderr: open(stderr, constants.O_RDONLY) }
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
    opened.length = 0
    const [output, errors] = [new Socket({ fd: ends.stdout, readable: true, writable: false }), new Socket({ fd: ends.stderr, readable: true, writable: false })]
    return {
      pid,
      started,
      stdout: output,
      stderr: errors,
      exited,
      closed: Promise.all([exited, closeOf(output), closeOf(errors)]).then(() => true)
    }
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    for (const path of paths) rmSync(path, { force: true })
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
