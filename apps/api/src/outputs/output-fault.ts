/** What is wrong with what is asked of an output, and the argument that it is in; its name is what a thread tells of it. */
export class OutputFault extends Error {
  override readonly name = 'OutputFault'
  readonly details: { path: string }

  constructor (argument: string, message: string) {
    super(message)
    this.details = { path: `/${argument}` }
  }
}
