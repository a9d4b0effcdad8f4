import { jsonOption, type Command } from '../terminal/command.ts'
import { scripts } from '../completion/scripts.ts'
import { misuse } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'

/** `toolyard completion`: what a shell needs to complete command lines. */
export const completion: Command = {
  name: 'completion',
  summary: 'Print a script that completes command lines, for bash, zsh or fish',
  help: `Prints a script for a shell; its first line says where it belongs. It completes commands, options and, of a service
that runs, names of tools.`,
  arguments: ['<shell>'],
  options: [jsonOption],
  complete: async () => Object.keys(scripts),
  run: async ({ args: [shell = ''], options }) => {
    const script = Object.entries(scripts).find(([name]) => name === shell)?.[1]
    if (script === undefined) throw misuse(`there is no script for '${shell}': name ${Object.keys(scripts).join(', ')}`)
    print(options['json'] === true ? JSON.stringify({ shell, script }) : script)
  }
}
