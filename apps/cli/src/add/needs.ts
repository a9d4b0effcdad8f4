import type { McpServer, Tool } from '@toolyard/manifests'

/** What a tool takes from whoever runs it, beside its permissions: hosts, sockets, limits, variables of the workers, stored secrets. */
export function needsOfTool ({ network, unixSockets, secrets = {}, limits, warm, run }: Tool): string[] {
  const [variables, stored] = run.kind === 'http'
    ? namesOf([...run.query, ...run.headers].flatMap(field => 'setting' in field ? [field.stored === true ? { secret: field.setting } : field] : []))
    : [run.kind === 'command' ? run.envPassthrough : [], []]
  const used = Object.entries(secrets).map(([variable, use]) => use.as === 'header'
    ? `${use.secret}, for ${use.hosts.join(', ')}`
    : `${use.secret}, which its processes have in ${variable}${use.as === 'file' ? ' as a file' : ''}`)
  return [
    ...linesOf({ network, unixSockets, limits, variables, stored: [...stored, ...used] }),
    ...warm === undefined || warm === 0 ? [] : [`    keeps processes ready: ${warm}`]
  ]
}

/** The same of an MCP server. */
export function needsOfServer ({ network, unixSockets, limits, asks, permissions, connection }: McpServer): string[] {
  const texts = connection.kind === 'stdio' ? Object.values(connection.env) : [connection.url, ...Object.values(connection.headers)]
  const [variables, stored] = namesOf(texts.flatMap(text => typeof text === 'string' ? [] : [text]))
  return [
    `    permissions: ${permissionText(permissions)}`,
    ...linesOf({ network, unixSockets, limits, variables, stored }),
    ...asks === true ? ['    may ask a person, or a model, something during a call'] : []
  ]
}

export function permissionText (permissions: Tool['permissions']): string {
  if (permissions === undefined) return 'TOOL_DEFAULT_PERMISSIONS'
  return permissions.length === 0 ? 'none' : permissions.join(', ')
}

/** Names of variables of the workers, and of stored secrets. */
function namesOf (texts: ReadonlyArray<{ setting: string } | { secret: string }>): [variables: string[], stored: string[]] {
  return [texts.flatMap(text => 'setting' in text ? [text.setting] : []), texts.flatMap(text => 'secret' in text ? [text.secret] : [])]
}

interface Needs {
  network: Tool['network'] | undefined
  unixSockets: Tool['unixSockets'] | undefined
  limits: Tool['limits'] | undefined
  variables: readonly string[]
  stored: readonly string[]
}

function linesOf ({ network, unixSockets, limits, variables, stored }: Needs): string[] {
  return [
    ...network === undefined || network.length === 0 ? [] : [`    reaches the hosts: ${network.join(', ')}`],
    ...unixSockets === true ? ['    makes Unix sockets'] : [],
    ...limits === undefined ? [] : [`    has limits of its own: ${JSON.stringify(limits)}`],
    ...variables.length === 0 ? [] : [`    is given the variables of the workers: ${[...new Set(variables)].join(', ')}`],
    ...[...new Set(stored)].map(secret => `    uses the secret ${secret}`)
  ]
}
