import { isSecretVariable } from '@toolyard/contract/terms'
import { secretForms } from '../../result/secret-forms.ts'
import { RequestFault } from './request-fault.ts'

/** Reads settings for one request, and remembers what must not come back from it. */
export class SettingValues {
  readonly #env: NodeJS.ProcessEnv
  readonly #stored: ReadonlyMap<string, string>
  readonly #values = new Set<string>()

  /** @param stored values of stored secrets, by name. */
  constructor (env: NodeJS.ProcessEnv, stored: ReadonlyMap<string, string>) {
    this.#env = env
    this.#stored = stored
  }

  /** The value of a stored secret, or of an environment variable of the worker. @throws RequestFault when there is none. */
  read (name: string, isStored = false): string {
    const value = isStored ? this.#stored.get(name) : isSecretVariable(name) ? undefined : this.#env[name]
    if (value === undefined || value === '') throw new RequestFault('TOOL_UNAVAILABLE', `the request needs the environment variable ${name}, which this worker doesn't have`)
    this.#values.add(value)
    return value
  }

  /** Every text that would give a value away. */
  hidden (sent: readonly string[]): string[] {
    return secretForms(this.#values, sent)
  }
}
