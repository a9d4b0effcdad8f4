import { cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Ledger } from './calls.ts'
import type { World } from './world.ts'

interface ReportParts {
  ledger: Ledger
  seed: number
  say: (line: string) => void
}

/** Says what was done and what is doubted, each doubt with its history, and ends the process. */
export function report ({ ledger, seed, say }: ReportParts): never {
  for (const [what, count] of [...ledger.counts].sort(([one], [other]) => one.localeCompare(other))) say(`${String(count).padStart(7)} ${what}`)
  for (const { text, jobs } of ledger.doubts) {
    say(`\nDOUBT ${text}`)
    for (const line of jobs.length === 0 ? [] : ledger.history.of(...jobs)) say(`  ${line}`)
  }
  say(`\nseed ${seed}: ${ledger.asks.length} calls, ${ledger.workflows.length} workflows, ${ledger.doubts.length} doubts`)
  process.exit(ledger.doubts.length === 0 ? 0 : 1)
}

/** Keeps the history and all logs where something is doubted: the teardown removes the directories that they are in. */
export function keepEvidence ({ world, ledger, seed, say }: ReportParts & { world: World }): void {
  if (ledger.doubts.length === 0) return
  const dir = mkdtempSync(join(tmpdir(), `toolyard-soak-of-${seed}-`))
  writeFileSync(join(dir, 'history.txt'), ledger.history.all().join('\n'))
  const { master, replica, sentinels } = world.redis
  for (const server of [master, replica, ...sentinels]) {
    const log = join(server.dir, 'redis.log')
    if (existsSync(log)) cpSync(log, join(dir, `redis-${server.port}.log`))
  }
  const names = ['workspace', 'runs', 'serial', 'audit']
  cpSync(world.service.dir, dir, { recursive: true, filter: path => path === world.service.dir || names.includes(basename(path)) || /\.(?:log|ndjson)$/.test(path) })
  say(`the history and all logs are in ${dir}`)
}
