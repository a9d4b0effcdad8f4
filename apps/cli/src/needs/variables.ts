import type { Finding, McpServer, Tool } from '@toolyard/manifests'

/**
 * Variables that tools and MCP servers name, and that aren't set here: a finding for each entry. The workers' environment may
 * be another one.
 */
export function missingVariables (
  { tools, servers }: { tools: readonly Tool[], servers: readonly McpServer[] }, severity: 'warning' | 'note', env: NodeJS.ProcessEnv
): Finding[] {
  const used = servers.filter(({ off }) => off !== true)
  const entries = [
    ...tools.map(tool => ({ name: tool.name, source: tool.source, variables: variablesOf(tool) })),
    ...used.map(server => ({ name: server.name, source: server.source, variables: variablesOfServer(server) }))
  ]
  return entries.flatMap(({ name, source, variables }): Finding[] => {
    const missing = [...new Set(variables)].filter(variable => (env[variable] ?? '') === '')
    if (missing.length === 0) return []
    const [one, are] = missing.length === 1 ? ['variable', 'is'] : ['variables', 'are']
    return [{
      severity,
      file: source.file,
      ...source.index === undefined ? {} : { index: source.index },
      tool: name,
      rule: 'env/missing',
      message: `${JSON.stringify(name)} names the ${one} ${missing.join(', ')}, which ${are} not set here`,
      fix: 'Set them in the environment of the workers.'
    }]
  })
}

function variablesOf ({ run }: Tool): string[] {
  if (run.kind === 'command') return run.envPassthrough
  if (run.kind !== 'http') return []
  return [...run.query, ...run.headers].flatMap(field => 'setting' in field && field.stored !== true ? [field.setting] : [])
}

function variablesOfServer ({ connection }: McpServer): string[] {
  const texts = connection.kind === 'stdio' ? Object.values(connection.env) : [connection.url, ...Object.values(connection.headers)]
  return texts.flatMap(text => typeof text === 'string' || !('setting' in text) ? [] : [text.setting])
}
