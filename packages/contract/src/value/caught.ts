/** A program may throw anything. */
export function asError (thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** The error of a class that was thrown, or that is the cause of what was thrown. */
export function thrownAs<Kind extends Error> (thrown: unknown, kind: abstract new (...args: never[]) => Kind): Kind | undefined {
  if (thrown instanceof kind) return thrown
  return thrown instanceof Error && thrown.cause instanceof kind ? thrown.cause : undefined
}

/** The code of a system's or Node's error, for example `ENOENT`. */
export function errorCode (thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}

/** The result of `act`, or `otherwise` where it throws. */
export function orElse<Result, Otherwise> (act: () => Result, otherwise: Otherwise): Result | Otherwise {
  try {
    return act()
  } catch {
    return otherwise
  }
}
