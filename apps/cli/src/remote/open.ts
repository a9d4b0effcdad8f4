import { spawn } from 'node:child_process'
import { isSettingName } from '@toolyard/runtime'
import type { Command } from '../terminal/command.ts'
import { exitStatus } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'
import { findAddress } from './target.ts'

export const open: Command = {
  name: 'open',
  summary: 'Open the console in a browser',
  help: 'Opens the console of the service in a browser, and prints its address. Log in with an API key.',
  options: [['--json', 'print {url} as JSON, and open nothing']],
  run: async ({ options }) => {
    const address = `${findAddress(process.env)}/`
    if (options['json'] === true) {
      print(JSON.stringify({ ok: true, url: address }))
      return exitStatus.done
    }
    print(`${address}\nLog in with an API key, such as API_KEY in .env.`)
    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const child = spawn(opener, [address], { env: withoutSettings(process.env), stdio: 'ignore', detached: true })
    // Where there is no browser, the address is enough.
    child.once('error', () => {}).unref()
  }
}

/** A browser needs much of the environment, but no key. */
function withoutSettings (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSettingName(name)))
}
