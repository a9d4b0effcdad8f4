import { isRecord, prettyJson } from '@toolyard/contract/terms'
import { exitStatus } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'
import { toolLine } from '../terminal/tool-line.ts'
import { clientOf, commandError, findTarget, type Target } from './target.ts'
import { askService } from './ask-service.ts'

/** Prints the tools of the service, and on stderr which service that is. */
export async function listTools (asData: boolean): Promise<number> {
  const target = findTarget(process.env)
  const tools = await clientOf(target).tools('chat').catch((error: unknown) => { throw commandError(error, target) })
  complain(`asked ${target.description}`)
  if (asData) print(prettyJson(tools))
  else if (tools.length === 0) print('No tools enabled')
  else {
    const audits = await auditsOf(target)
    const lines = tools.map(({ function: { name, description } }) => toolLine({ name, description, audit: audits.get(name) }))
    print(['Capabilities (enabled tools):', ...lines.sort()].join('\n'))
  }
  return exitStatus.done
}

/** Audits of tools that were added, by the lock. Providers take no such field in a tool, so that the client leaves it out. */
async function auditsOf (target: Target): Promise<Map<string, string>> {
  const { audit } = await askService(target, { method: 'GET', path: '/v1/agent-tools' })
  return new Map(isRecord(audit) ? Object.entries(audit).map(([name, status]) => [name, String(status)]) : [])
}
