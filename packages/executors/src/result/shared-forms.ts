export interface Taken<Forms> {
  forms: Forms
  release: () => void
}

/**
 * What is made of the secrets of a call and needed until it ends. Of long ones it takes megabytes, so calls that run at once with
 * the same secrets have it together; so do connections to MCP servers.
 */
export class SharedForms<Forms> {
  readonly #shared = new Map<string, { forms: Promise<Forms>, users: number }>()

  /** @param secrets a text that says which secrets these are, with their values. */
  async use<Result> (secrets: string, make: () => Promise<Forms>, run: (forms: Forms) => Promise<Result>): Promise<Result> {
    const { forms, release } = await this.take(secrets, make)
    try {
      return await run(forms)
    } finally {
      release()
    }
  }

  /** The same for what doesn't end with a function: `release` is to be called once. */
  async take (secrets: string, make: () => Promise<Forms>): Promise<Taken<Forms>> {
    const shared = this.#shared.get(secrets) ?? { forms: make(), users: 0 }
    this.#shared.set(secrets, shared)
    shared.users++
    const release = (): void => {
      shared.users--
      if (shared.users === 0) this.#shared.delete(secrets)
    }
    try {
      return { forms: await shared.forms, release }
    } catch (error) {
      release()
      throw error
    }
  }
}
