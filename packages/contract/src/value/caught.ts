/** What was thrown, as an error: a program may throw anything. */
export function asError (thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** The code of a system's or Node's error, for example `ENOENT`. */
export function errorCode (thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}
