import type { WaitOptions } from './jobs.ts'
import { pathSegment } from './http/path-segment.ts'
import { list, record, text } from './http/shape.ts'
import type { Transport } from './http/transport.ts'
import type { SecretList, SecretView } from './http/wire.ts'

/** Which of several secrets of one name is meant. */
export interface SecretPlace {
  /** Whose it is. For a key of a tenant `tenant` when absent, else `operator`; `key` is the key that asks. */
  scope?: SecretView['scope'] | undefined
  /** Whose it is, beside the scope `tenant`; for keys without a tenant. */
  tenant?: string | undefined
}

/** Secrets that tools use, for keys with the role `admin`. No value is ever read back. All methods throw a ToolyardError. */
export class Secrets {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /** Stores a value, in place of one of the same name. */
  async set (name: string, value: string, place: SecretPlace = {}, { signal }: WaitOptions = {}): Promise<void> {
    await this.#transport.send({ method: 'PUT', path: pathOf(name), body: { value, ...place }, signal }, {})
  }

  /** Those that this key may see, by name. */
  async list ({ signal }: WaitOptions = {}): Promise<SecretList> {
    return await this.#transport.send<SecretList>({ method: 'GET', path: '/v1/secrets', signal }, { secrets: list(record({ name: text, scope: text })) })
  }

  /** The next call of any worker doesn't use it any more. */
  async remove (name: string, place: SecretPlace = {}, { signal }: WaitOptions = {}): Promise<void> {
    await this.#transport.change({ method: 'DELETE', path: pathOf(name), query: { ...place }, signal }, {}, 'NOT_FOUND')
  }
}

function pathOf (name: string): string {
  return `/v1/secrets/${pathSegment(name)}`
}
