/** Makes something when it is first asked for, once. A failure isn't kept: who asks next has it tried again. */
export function madeOnce<Made> (make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return async () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return await made
  }
}
