import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { filePieces } from '../document/manifest-file.ts'
import type { Tool } from '../tool/tool.ts'

/** Files of a skill that are looked at. */
const mostFiles = 1_000
/** Digests that are kept of a tool: the skills that its calls name have one each. */
const mostKept = 100
/** Changes of a file that are nearer to each other may have the same time, in milliseconds: until then a digest is not kept. */
const settledMs = 2_000

interface ToolFile {
  path: string
  /** Another text when the file changes, or another one takes its place. */
  identity: string
  /** Milliseconds since 1970. */
  changedAt: number
}

/**
 * Names what a tool runs, beside its entry: another text when one of its files changes. For a command these are its program and
 * those of its arguments that are files; for a Python tool its module; for a skill, or the skill that a call names, its scripts. A
 * tool that runs no file of its own has the empty text.
 *
 * @returns null where a file can't be read here: the machines of workers may have others than that of the API.
 */
export async function programDigest (tool: Tool, args: Readonly<Record<string, unknown>>): Promise<string | null> {
  return await digestOf(await filesOf(tool, args))
}

/**
 * The same for calls that are to be held, of which there may be many at once: files are read again when they have changed. Before an
 * approved call runs, `programDigest` reads them all.
 */
export class ProgramDigests {
  readonly #kept = new WeakMap<Tool, Map<string, Promise<string | null>>>()

  /** As `programDigest`. */
  async of (tool: Tool, args: Readonly<Record<string, unknown>>): Promise<string | null> {
    const files = await filesOf(tool, args)
    if (files === undefined || files.length === 0) return await digestOf(files)
    const digests = this.#kept.get(tool) ?? new Map<string, Promise<string | null>>()
    this.#kept.set(tool, digests)
    const identity = JSON.stringify(files.map(({ path, identity }) => [path, identity]))
    const kept = digests.get(identity)
    if (kept !== undefined) return await kept
    if (digests.size >= mostKept) digests.clear()
    const reading = digestOf(files)
    digests.set(identity, reading)
    const digest = await reading
    const isSettled = files.every(({ changedAt }) => Date.now() - changedAt > settledMs)
    if ((digest === null || !isSettled) && digests.get(identity) === reading) digests.delete(identity)
    return digest
  }
}

async function digestOf (files: readonly ToolFile[] | undefined): Promise<string | null> {
  if (files === undefined) return null
  if (files.length === 0) return ''
  const hash = createHash('sha256')
  try {
    for (const { path } of files) {
      const own = createHash('sha256')
      for await (const piece of filePieces(path)) own.update(piece)
      hash.update(`${path}\0${own.digest('hex')}\n`)
    }
  } catch {
    return null
  }
  return hash.digest('hex')
}

async function filesOf ({ run, source }: Tool, { skill }: Readonly<Record<string, unknown>>): Promise<ToolFile[] | undefined> {
  if (run.kind === 'command') {
    const args = await Promise.all(run.args.map(async argument => await fileAt(resolve(dirname(source.file), argument))))
    const program = await fileAt(run.program)
    return program.length === 0 ? undefined : [...program, ...args.flat()]
  }
  if (run.kind === 'python') {
    const stem = join(run.root, run.module.endsWith('.py') ? run.module : run.module.replace(/^\./, '').replaceAll('.', '/'))
    const found = await Promise.all([stem, `${stem}.py`, join(stem, '__init__.py')].map(fileAt))
    return found.flat().length === 0 ? undefined : found.flat()
  }
  if (run.kind === 'skill' || run.kind === 'skill-command') return await scriptsOf(run.directory)
  if (run.kind !== 'skill-run' || typeof skill !== 'string' || !Object.hasOwn(run.skills, skill)) return []
  return await scriptsOf(run.skills[skill]?.directory ?? '')
}

/** Undefined for more than are looked at. */
async function scriptsOf (skill: string): Promise<ToolFile[] | undefined> {
  const scripts = join(skill, 'scripts')
  const names = (await readdir(scripts, { recursive: true }).catch(() => [])).sort()
  if (names.length > mostFiles) return undefined
  return (await Promise.all(names.map(async name => await fileAt(join(scripts, name))))).flat()
}

async function fileAt (path: string): Promise<ToolFile[]> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  if (found?.isFile() !== true) return []
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = found
  return [{ path, identity: [dev, ino, size, mtimeNs, ctimeNs].join(), changedAt: Number(ctimeMs) }]
}
