import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { api } from './commands/api.ts'
import { start } from './commands/start.ts'
import { worker } from './commands/worker.ts'

const commands: readonly Command[] = [start, api, worker]

/**
 * Runs `toolyard COMMAND`.
 *
 * @param args the command line after the program's name
 * @returns the exit status: 0, 1 for a failure, 2 for a command line that makes no sense. Messages are printed.
 */
export async function main (args: string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(overview())
    return 0
  }
  const command = commands.find(command => command.name === name)
  if (command === undefined) return misused(name === '' ? 'which command?' : `there is no command '${name}'`, overview())
  try {
    if (asksForHelp(rest)) {
      console.log(command.help)
      return 0
    }
  } catch (error) {
    return misused(`${name}: ${(error as Error).message}`, command.help)
  }
  return await run(command)
}

/** @throws TypeError for anything but `--help`. */
function asksForHelp (args: string[]): boolean {
  return parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } }, strict: true }).values.help === true
}

async function run (command: Command): Promise<number> {
  try {
    return await command.run()
  } catch (error) {
    console.error(`toolyard ${command.name}: ${(error as Error).message}`)
    return 1
  }
}

function misused (problem: string, help: string): number {
  console.error(`toolyard: ${problem}\n\n${help}`)
  return 2
}

function overview (): string {
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`)
  return ['Usage: toolyard COMMAND', '', ...list, '', 'toolyard COMMAND --help tells more.'].join('\n')
}
