/**
 * What is made of the secrets of a call and needed until it ends. Of long ones it takes megabytes, so calls that run at once with
 * the same secrets have it together.
 */
export class SharedForms<Forms> {
  readonly #shared = new Map<string, { forms: Promise<Forms>, calls: number }>()

  /** @param secrets a text that says which secrets these are, with their values. */
  async use<Result> (secrets: string, make: () => Promise<Forms>, run: (forms: Forms) => Promise<Result>): Promise<Result> {
    const shared = this.#shared.get(secrets) ?? { forms: make(), calls: 0 }
    this.#shared.set(secrets, shared)
    shared.calls++
    try {
      return await run(await shared.forms)
    } finally {
      shared.calls--
      if (shared.calls === 0) this.#shared.delete(secrets)
    }
  }
}
