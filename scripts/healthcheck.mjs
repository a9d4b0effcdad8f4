/**
 * Asks one address, for the health checks of containers, whose images have no curl: `healthcheck.mjs URL`.
 * Exit status 0 for an answer with a status below 400, else 1 with a line that says what came.
 */
const [address = ''] = process.argv.slice(2)
const patienceMs = 4_000

try {
  const response = await fetch(address, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' })
  if (!response.ok) {
    console.error(`${response.status} ${(await response.text()).slice(0, 1_000)}`)
    process.exitCode = 1
  }
} catch (error) {
  const cause = error instanceof Error ? error.cause ?? error : error
  console.error(cause instanceof Error ? String(cause) : cause)
  process.exitCode = 1
}
