import { isSecretVariable } from '@toolyard/contract/terms'
import { hasLoneSurrogate } from './argument-text.ts'
import { RequestFault } from './request-fault.ts'

/** A shorter text is in many answers by chance. */
const leastHidden = 6

/** Reads settings for one request, and remembers what must not come back from it. */
export class SettingValues {
  readonly #env: NodeJS.ProcessEnv
  readonly #values = new Set<string>()

  constructor (env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** The value of an environment variable of the worker. @throws RequestFault when it has none; no secret of the service is one. */
  read (name: string): string {
    const value = isSecretVariable(name) ? undefined : this.#env[name]
    if (value === undefined || value === '') throw new RequestFault('TOOL_UNAVAILABLE', `the request needs the environment variable ${name}, which this worker doesn't have`)
    this.#values.add(value)
    return value
  }

  /** Every text that would give a value away: as it is, as it is sent, and as JSON, a URL or base64 have it. The longest first. */
  hidden (sent: readonly string[]): string[] {
    const forms = [...this.#values].flatMap(value => [value, ...jsonForms(value), formOf(value), Buffer.from(value).toString('base64')])
    return [...new Set([...sent, ...forms])].filter(text => text.length >= leastHidden).sort((a, b) => b.length - a.length)
  }
}

/** As JSON has a text: also with slashes escaped, as PHP does it, and all but ASCII, as Python does. */
function jsonForms (value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1)
  const ascii = plain.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, plain.replaceAll('/', '\\/'), ascii, ascii.replaceAll('/', '\\/')]
}

function formOf (value: string): string {
  return hasLoneSurrogate(value) ? value : encodeURIComponent(value)
}
