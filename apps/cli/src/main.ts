import { around, prettyJson } from '@toolyard/contract/terms'
import { CommanderError } from 'commander'
import type { Command, CommandLine } from './terminal/command.ts'
import { commands } from './command-list.ts'
import { candidates } from './completion/candidates.ts'
import { CommandError, exitStatus } from './terminal/exit-status.ts'
import { buildProgram, type Misuse } from './program.ts'
import { messageFor } from './terminal/system-error.ts'
import { complain, print } from './terminal/terminal.ts'

/** Asked by the scripts of shells. */
const complete: Command = {
  name: 'complete',
  summary: 'Print what the last word may become',
  help: 'For the scripts of toolyard completion.',
  arguments: ['[words...]'],
  hidden: true,
  run: async ({ args }) => {
    const found = await candidates(commands, args)
    if (found.length > 0) print(found.join('\n'))
  }
}

/**
 * Runs `toolyard COMMAND`.
 *
 * @param args the command line after the program's name
 * @returns the exit status, as docs/command-line.md has it. Messages are printed.
 */
export async function main (args: string[]): Promise<number> {
  let status: number = exitStatus.done
  let misuse: Misuse | undefined
  const program = buildProgram(
    [...commands, complete], async (command, path, given) => { status = await run(command, path, given) }, found => { misuse = found }
  )
  try {
    await program.parseAsync(args[0] === 'help' ? helpLine(args.slice(1)) : args, { from: 'user' })
    return status
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return misuse === undefined ? exitStatus.done : misused(misuse)
  }
}

/** `help jobs list` asks what `jobs list --help` does. A word that is no command stays, so that it is named. */
function helpLine (words: readonly string[]): string[] {
  const path: string[] = []
  let below: readonly Command[] = commands
  for (const word of words) {
    if (below.length === 0) break
    path.push(word)
    const found = below.find(({ name }) => name === word)
    if (found === undefined) return path
    below = found.commands ?? []
  }
  return [...path, '--help']
}

async function run (command: Command, path: string, given: CommandLine): Promise<number> {
  try {
    return await command.run?.(given) ?? exitStatus.done
  } catch (error) {
    const { status = exitStatus.failed, code = 'FAILED', details }: Partial<CommandError> = error instanceof CommandError ? error : {}
    const message = messageFor(error)
    if (given.options['json'] === true) print(prettyJson(around({ ok: false, error: around({ code, message, ...(details === undefined ? {} : { details }) }) })))
    complain(`toolyard ${path}: ${message}`)
    // Connections and servers that it has opened would keep the process, for nothing.
    if (command.serves === true) process.exit(status)
    return status
  }
}

/** The words of a command, as they are typed. */
function pathOf (program: Misuse['program']): string {
  const { parent } = program
  return parent?.parent ? `${pathOf(parent)} ${program.name()}` : program.name()
}

function misused ({ program, error }: Misuse): number {
  const at = program.parent === null ? '' : `${pathOf(program)}: `
  // Without a word behind a group of commands, commander prints its help.
  const problem = error.code === 'commander.help' ? 'which command?' : error.message.replace(/^error: /, '')
  complain(`toolyard: ${at}${problem}\n\n${program.helpInformation().trimEnd()}`)
  return exitStatus.misused
}
