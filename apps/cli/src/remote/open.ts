import { spawn } from 'node:child_process'
import type { Command } from '../terminal/command.ts'
import { exitStatus } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'
import { findTarget } from './target.ts'

/** `toolyard open`: the dashboard. */
export const open: Command = {
  name: 'open',
  summary: 'Open the dashboard in a browser',
  help: "Opens the dashboard of the service in a browser, and prints its address. Log in with an admin's API key.",
  options: [['--json', 'print {url} as JSON, and open nothing']],
  run: async ({ options }) => {
    const { url } = findTarget(process.env)
    const dashboard = `${url}/dashboard`
    if (options['json'] === true) {
      print(JSON.stringify({ ok: true, url: dashboard }))
      return exitStatus.done
    }
    print(`${dashboard}\nLog in with an admin's API key, such as API_KEY in .env.`)
    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const child = spawn(opener, [dashboard], { stdio: 'ignore', detached: true })
    // Where there is no browser, the address is enough.
    child.once('error', () => {}).unref()
    return exitStatus.done
  }
}
