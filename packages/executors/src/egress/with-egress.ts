import { isRecord } from '@toolyard/contract/terms'
import type { Tool } from '@toolyard/manifests'
import { sandboxError, unbuiltError, type BoxNetwork } from '@toolyard/sandbox'
import type { Audit } from '../audit/audit.ts'
import type { Outcome, RunContext } from '../run/outcome.ts'
import { networkFault, type EgressNetworks } from './networks.ts'

/**
 * Runs a call of a tool that names its hosts in the network of its tenant and list, and adds to a failure what it was denied.
 * Without a sandbox it isn't run: nothing would hold it to its list.
 */
export async function withEgress (
  tool: Tool, context: RunContext, { networks, audit }: { networks: EgressNetworks | undefined, audit: Audit },
  run: (network?: BoxNetwork) => Promise<Outcome>
): Promise<Outcome> {
  const { name, source, network: hosts = [] } = tool
  const { tenant, keyName, headerSecrets: secrets = [] } = context
  const holder = secrets.length === 0 ? undefined : JSON.stringify([source.file, name, keyName ?? null])
  if (hosts.length === 0) return await run()
  if (networks === undefined) {
    return { ok: false, error: sandboxError('"network" of this tool names hosts, which only a sandbox can hold it to; without one (SANDBOX=off, or no bubblewrap) it is not run') }
  }
  let entered: Awaited<ReturnType<EgressNetworks['enter']>>
  try {
    const call = { tool: name, job: context.jobId, log: context.log, audit, secrets, hide: context.hideInHost, isKept: tool.run.kind === 'mcp' }
    entered = await networks.enter({ tenant, hosts, holder }, call)
  } catch (error) {
    return { ok: false, error: unbuiltError(networkFault(error)) }
  }
  let outcome: Outcome | undefined
  let denied: string[] = []
  try {
    outcome = await run(entered.network)
  } finally {
    denied = entered.leave()
  }
  if (outcome.ok || denied.length === 0) return outcome
  const details = isRecord(outcome.error.details) ? outcome.error.details : {}
  return { ...outcome, error: { ...outcome.error, details: { ...details, egress: denied } } }
}
