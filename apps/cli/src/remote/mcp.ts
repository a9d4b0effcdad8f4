import type { Command } from '../terminal/command.ts'
import { exitStatus } from '../terminal/exit-status.ts'
import { findTarget } from './target.ts'

/** `toolyard mcp`: the service's MCP for clients that start a program and speak with it over stdio. */
export const mcp: Command = {
  name: 'mcp',
  summary: 'Speak MCP over stdin and stdout, for clients that start a program',
  help: `Hands the messages of an MCP client on stdin and stdout to /mcp of the service at TOOLYARD_URL, else of the one of the settings,
with the key TOOLYARD_API_KEY. It keeps nothing and runs no tool. It ends when stdin ends.`,
  options: [['--queue <name>', 'the queue of the jobs that calls make'], ['--session <id>', 'the session whose files calls work in']],
  run: async ({ options }) => {
    const target = findTarget(process.env)
    const address = new URL(`${target.url}/mcp`)
    for (const name of ['queue', 'session']) {
      const value = options[name]
      if (typeof value === 'string') address.searchParams.set(name, value)
    }
    const { bridge } = await import('./mcp-bridge.ts')
    return await bridge(address, target) ? exitStatus.done : exitStatus.failed
  }
}
