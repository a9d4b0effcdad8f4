import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'
import { freePort } from '../support/redis-process.ts'

/** HAProxy before the API's ports, with the configuration of the deployment, where only addresses differ. */
export async function startHaproxy (t: Cleanup, program: string, dir: string, ports: readonly string[]): Promise<{ address: string }> {
  const port = String(await freePort())
  const configuration = readFileSync(join(repoRoot, 'deploy/haproxy/haproxy.cfg'), 'utf8')
    .replace(/^(\s*bind) :8080$/m, `$1 127.0.0.1:${port}`)
    .replace(/^(\s*)server-template .*$/m, ports.map((port, index) => `    server api${index} 127.0.0.1:${port} check`).join('\n'))
  const file = join(dir, `haproxy-${port}.cfg`)
  writeFileSync(file, configuration)
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' })
  t.teardown(() => { child.kill() })
  const address = `http://127.0.0.1:${port}`
  await waitFor('HAProxy has found a replica', async () => await fetch(`${address}/ready`).then(({ ok }) => ok, () => false))
  return { address }
}
