/** The fault, and the argument that has it; a thread tells of it by its name. */
export class OutputFault extends Error {
  override readonly name = 'OutputFault'
  readonly details: { path: string }

  constructor (argument: string, message: string) {
    super(message)
    this.details = { path: `/${argument}` }
  }
}
