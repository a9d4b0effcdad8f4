import { isSecretVariable } from '@toolyard/contract/terms'
import { hasLoneSurrogate } from './argument-text.ts'
import { RequestFault } from './request-fault.ts'

/** A shorter text stands in many answers by chance. */
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
    const forms = [...this.#values].flatMap(value => [value, JSON.stringify(value).slice(1, -1), formOf(value), Buffer.from(value).toString('base64')])
    return [...new Set([...sent, ...forms])].filter(text => text.length >= leastHidden).sort((a, b) => b.length - a.length)
  }
}

function formOf (value: string): string {
  return hasLoneSurrogate(value) ? value : encodeURIComponent(value)
}
