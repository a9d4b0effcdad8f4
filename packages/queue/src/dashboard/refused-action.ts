/** The dashboard doesn't do this; the message says why, or what to do instead. */
export class RefusedAction extends Error {
  override readonly name = 'RefusedAction'
}
