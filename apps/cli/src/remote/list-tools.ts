import { exitStatus } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'
import { clientOf, commandError, findTarget } from './target.ts'

/** Prints the tools of the service, and on stderr which service that is. */
export async function listTools (asData: boolean): Promise<number> {
  const target = findTarget(process.env)
  const tools = await clientOf(target).tools('chat').catch((error: unknown) => { throw commandError(error, target) })
  complain(`asked ${target.description}`)
  if (asData) print(JSON.stringify(tools, null, 2))
  else if (tools.length === 0) print('No tools enabled')
  else print(['Capabilities (enabled tools):', ...tools.map(({ function: { name, description } }) => `- ${name}: ${description === '' || description === undefined ? '(no description)' : description}`).sort()].join('\n'))
  return exitStatus.done
}
