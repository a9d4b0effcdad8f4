import { constants } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { crlfText, firstLineBytes, markedText, noFirstLineText, readFirstLine } from '@toolyard/contract/terms'
import type { DocumentPath } from '../finding/finding.ts'
import type { Finding } from '../finding/finding.ts'
import type { Tool } from '../tool/tool.ts'
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
  const findings: Finding[] = []
  const trust = createTrustCheck()
  for (let start = 0; start < tools.length; start += batchSize) {
    findings.push(...(await Promise.all(tools.slice(start, start + batchSize).map(tool => programFinding(tool, places, trust)))).flat())
  }
  return findings
}

/** Where programs lie. */
interface Places {
  /** The bin directory, as the manifest has it. */
  written: string
  /** The same without links. */
  real: string
  searchPath: string
}

async function programFinding (tool: Tool, { written, real: bin, searchPath }: Places, trust: TrustCheck): Promise<Finding[]> {
  if (tool.run.kind !== 'command') return []
  const { program } = tool.run
  const path: DocumentPath = ['tools', tool.source.index, 'command']
  const warning = (rule: string, message: string, fix: string): Finding =>
    ({ severity: 'warning', file: tool.source.file, rule, index: tool.source.index, tool: tool.name, path, message, fix })
  const place = `(program ${goQuote(program)})`
  try {
    const found = await stat(program)
    if (!found.isFile()) return [missing(warning('AC12', unavailable(tool.name, 'not a file', place), 'Name a program.'))]
    await access(program, constants.X_OK)
    const findings: Finding[] = []
    const fault = await firstLineFault(program, searchPath)
    if (fault !== undefined) findings.push(missing(warning('AC12', unavailable(tool.name, fault.text, place), fault.fix)))
    const real = await realpath(program)
    if (program.startsWith(written) && !real.startsWith(bin)) {
      findings.push(warning('A11', `program of tool ${goQuote(tool.name)} is a symbolic link out of tools/bin, to ${goQuote(real)}, which is what runs ${place}`, 'Put the program itself below tools/bin, or name the one that is meant by its absolute path.'))
    }
    const open = await trust(program)
    if (open !== undefined) {
      const finding = warning('A11', `program of tool ${goQuote(tool.name)} may be replaced by others than its owner, who may write to ${goQuote(open)} ${place}`, `Run chmod go-w on ${open}.`)
      findings.push({ ...finding, untrusted: true })
    }
    if (tool.run.sha256 !== undefined && await isOtherThanPinned(program, tool.run.sha256)) {
      const finding = warning('fault 48', `program of tool ${goQuote(tool.name)} is not the one that sha256 pins, and is not run ${place}`, 'Look at what changed it; when it was you, write what sha256sum prints.')
      findings.push({ ...finding, nonconforming: true })
    }
    return findings
  } catch (error) {
    return [missing(warning('AC12', unavailable(tool.name, reason(error), place), 'Build or install the program, or make it executable.'))]
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
  const file = await open(program)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(firstLineBytes), 0, firstLineBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** A warning while the service runs, since a worker may have the program; an error to a validation. */
function missing (finding: Finding): Finding {
  return { ...finding, nonconforming: true }
}

function unavailable (name: string, why: string, place: string): string {
  return `configured tool ${goQuote(name)} is unavailable: ${why} ${place}`
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
