import { storedJson } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'
import { Command as Program, type CommanderError } from 'commander'
import type { Command, CommandLine } from './terminal/command.ts'
import { print } from './terminal/terminal.ts'

/** Runs a command of the tree; `path` is how it is called, as `jobs list`. */
type Runner = (command: Command, path: string, given: CommandLine) => Promise<void>

export interface Misuse {
  program: Program
  error: CommanderError
}

export function buildProgram (commands: readonly Command[], run: Runner, onMisuse: (misuse: Misuse) => void): Program {
  const program = new Program('toolyard')
    .usage('COMMAND')
    .description('Runs the tool calls of LLM agents.')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'tell more of a command')
    .configureHelp({ subcommandTerm: command => command.name(), helpWidth: 140 })
    .configureOutput({ writeOut: text => { print(text.trimEnd()) }, writeErr: () => {}, outputError: () => {} })
    .addHelpText('after', '\ntoolyard COMMAND --help tells more. Exit codes: 0 done, 1 failed, 2 misused, 3 no service, 4 refused, 5 goes on, 6 cut.')
  catchExits(program, onMisuse)
  for (const command of commands) add(program, command, '', run, onMisuse)
  return program
}

function add (parent: Program, command: Command, above: string, run: Runner, onMisuse: (misuse: Misuse) => void): void {
  const { name, summary, help, arguments: args = [], options = [], commands = [] } = command
  const path = `${above}${name}`
  const program = parent.command(name, { hidden: command.hidden === true }).summary(summary).description(help)
  for (const argument of args) program.argument(argument)
  for (const [flags, meaning] of options) program.option(flags, meaning)
  catchExits(program, onMisuse)
  for (const each of commands) add(program, each, `${path} `, run, onMisuse)
  if (command.run !== undefined) {
    program.action(async () => { await run(command, path, { options: program.opts(), args: program.args, words: wordsOf(program) }) })
  }
}

function catchExits (program: Program, onMisuse: (misuse: Misuse) => void): void {
  program.exitOverride(error => {
    if (error.exitCode !== 0) onMisuse({ program, error })
    throw error
  })
}

/** All that was written, behind `toolyard`. */
function wordsOf (program: Program): readonly string[] {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Commander has it, and its types don't.
  return program.parent === null ? (program as Program & { rawArgs: string[] }).rawArgs : wordsOf(program.parent)
}

function version (): string {
  const { version } = storedJson<{ version: string }>(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return version
}
