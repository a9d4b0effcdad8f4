/**
 * A property that is tried for so long, in milliseconds: cases after that pass untried, and the one under way comes to its
 * end. fast-check's `interruptAfterTimeLimit` leaves that one running behind the end of its test.
 */
export function untilLate<Given extends unknown[], Held> (
  ms: number, property: (...given: Given) => Promise<Held>
): (...given: Given) => Promise<Held | undefined> {
  const late = performance.now() + ms
  return async (...given) => performance.now() < late ? await property(...given) : undefined
}
