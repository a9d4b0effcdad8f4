import { parseArgs } from 'node:util'
import type { Command, CommandLine } from './command.ts'
import { api } from './commands/api.ts'
import { doctor } from './commands/doctor.ts'
import { start } from './commands/start.ts'
import { tools } from './commands/tools.ts'
import { validate } from './commands/validate.ts'
import { worker } from './commands/worker.ts'
import { complain, print } from './terminal.ts'

const commands: readonly Command[] = [start, api, worker, validate, tools, doctor]

/**
 * Runs `toolyard COMMAND`.
 *
 * @param args the command line after the program's name
 * @returns the exit status: 0, 1 for a failure, 2 for a command line that makes no sense. Messages are printed.
 */
export async function main (args: string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') {
    print(overview())
    return 0
  }
  const command = commands.find(command => command.name === name)
  if (command === undefined) return misused(name === '' ? 'which command?' : `there is no command '${name}'`, overview())
  let given: CommandLine
  try {
    given = parse(command, rest)
  } catch (error) {
    return misused(`${name}: ${(error as Error).message}`, command.help)
  }
  if (given.options['help'] === true) {
    print(command.help)
    return 0
  }
  return await run(command, given)
}

/** @throws TypeError for options that the command doesn't have, and for arguments where it takes none. */
function parse (command: Command, args: string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args,
    options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    strict: true,
    allowPositionals: command.takesArguments === true
  })
  return { options: values, args: positionals }
}

async function run (command: Command, given: CommandLine): Promise<number> {
  try {
    return await command.run(given)
  } catch (error) {
    complain(`toolyard ${command.name}: ${(error as Error).message}`)
    // Connections and servers that it has opened would keep the process, for nothing.
    if (command.serves === true) process.exit(1)
    return 1
  }
}

function misused (problem: string, help: string): number {
  complain(`toolyard: ${problem}\n\n${help}`)
  return 2
}

function overview (): string {
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`)
  return ['Usage: toolyard COMMAND', '', ...list, '', 'toolyard COMMAND --help tells more.'].join('\n')
}
