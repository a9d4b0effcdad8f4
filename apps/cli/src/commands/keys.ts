import { randomBytes } from 'node:crypto'
import { jsonOption, type Command } from '../terminal/command.ts'
import { exitStatus, misuse } from '../terminal/exit-status.ts'
import { storedKeyCommands } from '../remote/stored-keys.ts'
import { complain, print } from '../terminal/terminal.ts'

const keyBytes = 32

const makeNew: Command = {
  name: 'new',
  summary: 'Make an API key for the settings and print it, once',
  help: `Makes an API key of 32 random bytes and prints it as an entry of API_KEYS_JSON. It is stored nowhere: put it into the
settings of the service and into those of its caller.`,
  options: [['--name <name>', 'what logs and jobs call it (default: key-1)'], ['--role <role>', 'admin, or read, which may look but not run (default: admin)'], jsonOption],
  run: async ({ options: { name = 'key-1', role = 'admin', json } }) => {
    if (role !== 'admin' && role !== 'read') throw misuse(`--role must be admin or read, not '${String(role)}'`)
    if (String(name).trim() === '') throw misuse('--name must not be empty')
    const entry = { name, key: randomBytes(keyBytes).toString('base64url'), role }
    print(json === true ? JSON.stringify({ ok: true, key: entry }) : JSON.stringify(entry))
    complain("This key is shown once. The service takes it as API_KEYS_JSON='[ENTRY, ...]', which replaces API_KEY; its caller, as TOOLYARD_API_KEY.")
    return exitStatus.done
  }
}

/** `toolyard keys`: API keys. */
export const keys: Command = {
  name: 'keys',
  summary: 'Make, list and revoke API keys',
  help: `The keys of the service at TOOLYARD_URL, else of the one of the settings: add, list and revoke. A service takes the keys of its
settings as well (API_KEY, or API_KEYS_JSON); new prints one for them, and asks nobody.`,
  commands: [...storedKeyCommands, makeNew]
}
