import type { Command } from '../terminal/command.ts'
import { findTarget } from './target.ts'

/** `toolyard mcp`: the service's MCP for clients that start a program and speak with it over stdio. */
export const mcp: Command = {
  name: 'mcp',
  summary: 'Speak MCP over stdin and stdout, for clients that start a program',
  help: `Hands the messages of an MCP client on stdin and stdout to /mcp of the service at TOOLYARD_URL, else of the one of the settings,
with the key TOOLYARD_API_KEY. It keeps nothing and runs no tool. It ends when stdin ends.`,
  options: [['--queue <name>', 'the queue of the jobs that calls make']],
  run: async ({ options }) => {
    const { url, apiKey } = findTarget(process.env)
    const queue = typeof options['queue'] === 'string' ? `?queue=${encodeURIComponent(options['queue'])}` : ''
    const { bridge } = await import('./mcp-bridge.ts')
    await bridge(new URL(`${url}/mcp${queue}`), apiKey)
    return 0
  }
}
