import { isSecretVariable } from '@toolyard/contract/terms'
import { secretForms } from '../../result/secret-forms.ts'
import { RequestFault } from './request-fault.ts'

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

  /** Every text that would give a value away. */
  hidden (sent: readonly string[]): string[] {
    return secretForms(this.#values, sent)
  }
}
