import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asError } from '@toolyard/contract/terms'
import { createPins, runProcess, type Box, type BoxNetwork, type LayerFinding, type ProcessEnd } from '@toolyard/sandbox'
import type { NetworkMeans } from '../../run/sandbox.ts'
import { createNetworks, type EgressNetworks } from '../networks.ts'
import { layNetworkTargets } from './targets.ts'
import type { CanaryTask } from './task.ts'

const canary = fileURLToPath(new URL('canary.js', import.meta.url))
/** It says that the canary is a module. */
const packageFile = fileURLToPath(new URL('../../../package.json', import.meta.url))
const timeoutMs = 20_000
const outputBytes = 65_536
const nobody = { tool: 'canary', job: 'probe', log: () => {}, audit: { record: () => {}, flush: async () => { await Promise.resolve() } }, secrets: [] }

interface EgressProbe {
  means: Omit<NetworkMeans, 'prove'>
  boxIn: (network: BoxNetwork) => Box
  env: NodeJS.ProcessEnv
  cwd: string
}

/** Runs a canary in a network whose list has one host, beside a box in another network, and says whether it reached anything else. */
export async function probeEgress (probe: EgressProbe): Promise<LayerFinding> {
  const targets = await layNetworkTargets(probe.means.directory)
  const means = { ...probe.means, prove: async () => await Promise.resolve(undefined) }
  const networks = createNetworks({ means, policy: targets.policy, groups: undefined, onClosed: () => {} })
  const ended = new AbortController()
  try {
    const neighbour = await startNeighbour(networks, probe, ended.signal)
    const task: CanaryTask = { ...targets.task, neighbourPort: await neighbour.port }
    const end = await runIn(networks, 'canary', task, { ...probe, hosts: [task.listed], signal: ended.signal, onLine: () => {} })
    ended.abort()
    await neighbour.ended
    const found = foundIn(end)
    if (found === undefined) return { layer: 'egress', holds: false, detail: 'the canary did not run' }
    const reached = [...found, ...await targets.reached()]
    return { layer: 'egress', holds: reached.length === 0, detail: reached.join(', ') || 'holds' }
  } catch (error) {
    return { layer: 'egress', holds: false, detail: asError(error).message }
  } finally {
    ended.abort()
    await networks.close()
    await targets.remove()
  }
}

async function startNeighbour (
  networks: EgressNetworks, probe: EgressProbe, signal: AbortSignal
): Promise<{ port: Promise<number>, ended: Promise<unknown> }> {
  let told = (_port: number): void => {}
  const port = new Promise<number>(resolve => { told = resolve })
  const ended = runIn(networks, 'neighbour', { serve: true }, { ...probe, hosts: ['neighbour.canary.invalid'], signal, onLine: line => { told(Number(line)) } })
  const failed = ended.then(({ stderr }) => { throw new Error(`the box of a canary ended: ${stderr.kept.toString('utf8').trim()}`) })
  failed.catch(() => {})
  return await Promise.resolve({ port: Promise.race([port, failed]), ended })
}

interface CanaryRun extends EgressProbe {
  hosts: readonly string[]
  signal: AbortSignal
  onLine: (line: string) => void
}

async function runIn (
  networks: EgressNetworks, tenant: string, task: CanaryTask, { boxIn, env, cwd, hosts, signal, onLine }: CanaryRun
): Promise<ProcessEnd> {
  const { network, leave } = await networks.enter({ tenant, hosts, holder: undefined }, nobody)
  try {
    const plan = { program: process.execPath, args: [canary], env: { PATH: env['PATH'] ?? '' }, cwd, readable: [dirname(canary), packageFile] }
    const host = { launcher: network.launcher, pins: createPins(), onSurvivors: () => {}, box: boxIn(network) }
    return await runProcess(plan, { stdin: JSON.stringify(task), timeoutMs, signal, maxOutputBytes: outputBytes, onLine }, host)
  } finally {
    leave()
  }
}

/** Undefined where the canary did not come to its end. */
function foundIn ({ ending, stdout }: ProcessEnd): string[] | undefined {
  if (ending.kind !== 'exit' || ending.code !== 0) return undefined
  try {
    const found: unknown = JSON.parse(stdout.kept.toString('utf8'))
    return Array.isArray(found) ? found.map(String) : undefined
  } catch {
    return undefined
  }
}
