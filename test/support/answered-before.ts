/** How many of thirty requests were answered before another one, which is sent when the first of them was. */
export async function answeredBefore (one: () => Promise<void>, other: () => Promise<unknown>): Promise<number> {
  let answered = 0
  const all = Array.from({ length: 30 }, async () => {
    await one()
    answered += 1
  })
  await Promise.race(all)
  await other()
  const before = answered
  await Promise.all(all)
  return before
}
