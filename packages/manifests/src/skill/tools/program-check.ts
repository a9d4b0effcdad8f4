import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { goQuote } from '../../finding/go-quote.ts'
import { installedProgram } from '../../program/installed.ts'
import { isOtherThanPinned } from '../../program/pin.ts'
import { createTrustCheck } from '../../program/trust.ts'
import type { Remark } from './execution-check.ts'
import type { SkillOptions } from './options.ts'
import type { Execution } from './tools-file.ts'

/**
 * Returns a look at what an execution runs: its program, and the programs and scripts of its resolvers. Warnings only:
 * they may be there, or others, on the workers alone. Each program is looked for once: a thousand tools often share one.
 */
export function createProgramCheck (
  { directory, options }: { directory: string, options: SkillOptions }
): (execution: Execution) => Promise<Remark[]> {
  const trust = createTrustCheck()
  const known = new Map<string, Promise<string | undefined>>()
  const find = async (binary: string): Promise<string | undefined> => {
    const found = known.get(binary) ?? installedProgram(binary, directory, options.path)
    known.set(binary, found)
    return await found
  }
  const look = async (binary: string, sha256: string | null | undefined): Promise<Remark[]> => {
    const path = await find(binary)
    if (path === undefined) return [{ rule: 'SC12', nonconforming: true, message: `program ${goQuote(binary)} is not installed here`, fix: 'Install it, or add its directory to PATH.' }]
    const remarks: Remark[] = []
    const open = await trust(path)
    if (open !== undefined) {
      remarks.push({ rule: 'fault 46', untrusted: true, message: `program ${goQuote(path)} may be replaced by others than its owner, who may write to ${goQuote(open)}`, fix: `Run chmod go-w on ${open}.` })
    }
    if (sha256 != null && await isOtherThanPinned(path, sha256)) {
      remarks.push({ rule: 'fault 48', nonconforming: true, message: `program ${goQuote(path)} is not the one that sha256 pins, and is not run`, fix: 'Look at what changed it; when it was you, write what sha256sum prints.' })
    }
    return remarks
  }
  return async ({ binary, sha256, args = [] }) => {
    const remarks = await look(binary, sha256)
    for (const [at, { resolveCommand }] of args.entries()) {
      const { script, binary: other } = resolveCommand ?? {}
      if (script != null && options.allowScripts && !/\.\.|[/\\]/.test(script)) {
        const fault = await scriptFault(directory, script)
        if (fault !== undefined) remarks.push({ rule: 'S27', ...fault, message: `args[${at}]: resolveCommand: ${fault.message}, so it never runs` })
      }
      if (other != null && other !== binary && await find(other) === undefined) {
        remarks.push({ rule: 'SC12', nonconforming: true, message: `args[${at}]: resolveCommand: program ${goQuote(other)} is not installed here, so it never runs`, fix: 'Install it, or add its directory to PATH.' })
      }
    }
    return remarks
  }
}

/** Why a script is not run: there is none of that name, or a link leads out of `scripts/`, which may not be a link itself. */
async function scriptFault (directory: string, name: string): Promise<{ message: string, fix: string } | undefined> {
  const scripts = join(await realpath(directory).catch(() => directory), 'scripts')
  let out = false
  for (const file of [name, `${name}.sh`]) {
    const real = await realpath(join(scripts, file)).catch(() => undefined)
    if (real === undefined || !await stat(real).then(found => found.isFile(), () => false)) continue
    if (real.startsWith(`${scripts}${sep}`)) return undefined
    out = true
  }
  return out
    ? { message: `${goQuote(name)} is linked out of scripts/`, fix: 'Put the script itself into scripts/, which may be no link either.' }
    : { message: `scripts/ has no ${goQuote(name)}`, fix: 'Add the script, or correct its name.' }
}
