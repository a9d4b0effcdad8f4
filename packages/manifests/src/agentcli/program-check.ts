import { constants } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { crlfText, firstLineBytes, markedText, noFirstLineText, readFirstLine } from '@toolyard/contract/terms'
import type { Finding } from '../finding/finding.ts'
import type { CommandRun, Tool } from '../tool/tool.ts'
import { goQuote } from '../finding/go-quote.ts'
import { installedProgram } from '../program/installed.ts'
import { isOtherThanPinned } from '../program/pin.ts'
import { createTrustCheck, type TrustCheck } from '../program/trust.ts'

/** Programs that are looked at together; each look is a few calls of the file system. */
const batchSize = 32
/**
 * Warnings about programs that are missing or can't be executed, that a symbolic link leads out of the bin
 * directory, that others than their owner may replace, or that aren't what was pinned. The loader
 * itself checks none of this, and a program may be there on the workers alone.
 */
export async function programFindings (tools: readonly Tool[], where: { directory: string, searchPath: string }): Promise<Finding[]> {
  const { directory, searchPath } = where
  // Not the real path of tools/bin itself: that may be the link that leads out.
  const written = join(directory, 'tools', 'bin') + sep
  const real = join(await realpath(directory).catch(() => directory), 'tools', 'bin') + sep
  const places: Places = { written, real, searchPath }
  const trust = createTrustCheck()
  const commands = tools.flatMap(({ name, source, run }) => run.kind === 'command' ? [{ name, source, run }] : [])
  // A thousand tools often share one program.
  const programs = new Map(commands.map(({ run }) => [`${run.sha256} ${run.program}`, run]))
  const keys = [...programs.keys()]
  const faults = new Map<string, ProgramFault[]>()
  for (let start = 0; start < keys.length; start += batchSize) {
    await Promise.all(keys.slice(start, start + batchSize).map(async key => {
      const run = programs.get(key)
      if (run !== undefined) faults.set(key, await programFaults(run, places, trust))
    }))
  }
  const misplaced = await Promise.all(commands.map(async ({ run }) => await misplacedArguments(run, directory)))
  return commands.flatMap(({ name, source, run }, at) => [...faults.get(`${run.sha256} ${run.program}`) ?? [], ...misplaced[at] ?? []].map(({ about, ...fault }): Finding => ({
    severity: 'warning', file: source.file, index: source.index, tool: name, path: ['tools', source.index, 'command'], ...fault, message: `${about(goQuote(name))} (program ${goQuote(run.program)})`
  })))
}

interface Places {
  /** The bin directory, as the manifest has it. */
  written: string
  /** The same without links. */
  real: string
  searchPath: string
}

/** For whatever tool runs it. */
type ProgramFault = Pick<Finding, 'rule' | 'untrusted' | 'nonconforming'> & Partial<Pick<Finding, 'severity'>> & { fix: string, about: (tool: string) => string }

/** Scripts of tools/bin that are handed to an interpreter by a relative path. A note: the workspace may be this directory. */
async function misplacedArguments ({ args }: CommandRun, directory: string): Promise<ProgramFault[]> {
  const scripts = args.filter(arg => /^(?:\.\/)?tools\/bin\/./.test(arg))
  const found = await Promise.all(scripts.map(async script => await access(join(directory, script)).then(() => true, () => false)))
  return scripts.filter((_, at) => found[at]).map(script => ({
    severity: 'note',
    rule: 'AC16',
    about: tool => `tool ${tool} runs in the workspace, and its argument ${goQuote(script)} is looked for there, not beside the manifest`,
    fix: `Name the script as the program, "command": [${goQuote(script)}], with a first line such as #!/usr/bin/env python3. Or write its absolute path.`
  }))
}

async function programFaults (
  { program, sha256 }: CommandRun, { written, real: bin, searchPath }: Places, trust: TrustCheck
): Promise<ProgramFault[]> {
  try {
    const found = await stat(program)
    if (!found.isFile()) return [unavailable('not a file', 'Name a program.')]
    await access(program, constants.X_OK)
    const faults: ProgramFault[] = []
    const fault = await firstLineFault(program, searchPath)
    if (fault !== undefined) faults.push(unavailable(fault.text, fault.fix))
    const real = await realpath(program)
    if (program.startsWith(written) && !real.startsWith(bin)) {
      faults.push({ rule: 'A11', about: tool => `program of tool ${tool} is a symbolic link out of tools/bin, to ${goQuote(real)}, which is what runs`, fix: 'Put the program itself below tools/bin, or name the one that is meant by its absolute path.' })
    }
    const open = await trust(program)
    if (open !== undefined) {
      faults.push({ rule: 'A11', untrusted: true, about: tool => `program of tool ${tool} may be replaced by others than its owner, who may write to ${goQuote(open)}`, fix: `Run chmod go-w on ${open}.` })
    }
    if (sha256 !== undefined && await isOtherThanPinned(program, sha256)) {
      faults.push({ rule: 'fault 48', nonconforming: true, about: tool => `program of tool ${tool} is not the one that sha256 pins, and is not run`, fix: 'Look at what changed it; when it was you, write what sha256sum prints.' })
    }
    return faults
  } catch (error) {
    const why = reason(error)
    return [unavailable(why, why === 'permission denied' ? `Make it executable: chmod +x ${program}` : 'Build or install the program, or correct its path.')]
  }
}

/** Why a script would not start; what can't be read is started all the same. */
async function firstLineFault (program: string, searchPath: string): Promise<{ text: string, fix: string } | undefined> {
  const first = readFirstLine(await headOf(program).catch(() => Buffer.alloc(1)))
  if (first === undefined) return undefined
  const { interpreter, lookedUp, crlf, marked } = first
  if (marked === true) return { text: markedText, fix: 'Save it as UTF-8 without a byte order mark: sed -i "1s/^\\xef\\xbb\\xbf//" FILE.' }
  if (interpreter === undefined) return { text: noFirstLineText, fix: 'Begin it with a line such as #!/bin/sh or #!/usr/bin/env node.' }
  if (crlf) return { text: crlfText, fix: 'Save it with LF line ends: sed -i "s/\\r$//" FILE.' }
  const isMissing = isAbsolute(interpreter) && await stat(interpreter).then(() => false, () => true)
  if (isMissing) return { text: `its interpreter ${goQuote(interpreter)} is missing`, fix: 'Install it, or correct the first line.' }
  if (lookedUp === undefined || searchPath === '' || await installedProgram(lookedUp, '/', searchPath) !== undefined) return undefined
  return { text: `its interpreter ${goQuote(lookedUp)} is not on the PATH`, fix: 'Install it, add its directory to PATH, or correct the first line.' }
}

async function headOf (program: string): Promise<Buffer> {
  const file = await open(program, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(firstLineBytes), 0, firstLineBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** A warning while the service runs, since a worker may have the program; an error to a validation. */
function unavailable (why: string, fix: string): ProgramFault {
  return { rule: 'AC12', nonconforming: true, about: tool => `configured tool ${tool} is unavailable: ${why}`, fix }
}

function reason (error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR': return 'no such file or directory'
    case 'EACCES': return 'permission denied'
    default: return 'it cannot be looked up'
  }
}
