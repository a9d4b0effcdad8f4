/** A reason why `toolyard start` can't go on, with its remedy; the message is for the person at the terminal. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
