import type { Ready } from '@toolyard/contract'

/** One thing that must hold for a process to be ready; `detail` says more, also when it holds. */
export type ReadinessCheck = () => Promise<{ ok: boolean, detail?: string }>

/** Asks all checks at once; ready is who passes each of them. */
export async function readReadiness (checks: Readonly<Record<string, ReadinessCheck>>): Promise<Ready> {
  const answers = Object.fromEntries(await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await check()] as const)))
  return { ok: Object.values(answers).every(check => check.ok), checks: answers }
}
