import { unifiedDiff } from '@toolyard/executors'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import { isRecord, mcpTool, type McpTool } from '@toolyard/contract/terms'
import { schemaTexts } from './schema-texts.ts'

/** UTF-16 units of a description. */
const shownToModels = 1_024

export interface Changes {
  added: readonly McpTool[]
  changed: ReadonlyArray<{ before: McpTool, after: McpTool }>
  gone: readonly McpTool[]
}

export function changesOf (accepted: readonly McpTool[], offered: readonly McpTool[]): Changes {
  const before = new Map(accepted.map(tool => [tool.name, tool]))
  const after = new Set(offered.map(({ name }) => name))
  return {
    added: offered.filter(({ name }) => !before.has(name)),
    changed: offered.flatMap(tool => {
      const known = before.get(tool.name)
      return known === undefined || mcpDigest(known) === mcpDigest(tool) ? [] : [{ before: known, after: tool }]
    }),
    gone: accepted.filter(({ name }) => !after.has(name))
  }
}

export function isChanged ({ added, changed, gone }: Changes): boolean {
  return added.length + changed.length + gone.length > 0
}

/** The changes as a terminal shows them: all that models would read. */
export function changeLines ({ added, changed, gone }: Changes): string[] {
  return [
    ...added.flatMap(tool => [`  + ${tool.name} is new${hints(tool)}`, ...wholeOf(tool)]),
    ...changed.flatMap(({ before, after }) => [`  ! ${after.name} has changed`, ...differences(before, after)]),
    ...gone.map(({ name }) => `  - ${name} is gone`)
  ]
}

function wholeOf (tool: McpTool): string[] {
  return [...indented(tool.description ?? '(no description)'), ...longNote(tool), `      arguments: ${argumentsOf(tool)}`, ...furtherTexts(tool)]
}

/** Providers cut or refuse longer ones. */
function longNote ({ description = '' }: McpTool): string[] {
  return description.length <= shownToModels ? [] : [`      note: its description has ${description.length} characters, and models of some providers take ${shownToModels}`]
}

function hints ({ annotations = {} }: McpTool): string {
  const hints = Object.entries(annotations).filter(([, value]) => value === true).map(([name]) => name)
  return hints.length === 0 ? '' : ` (its server says: ${hints.join(', ')})`
}

function argumentsOf ({ inputSchema }: McpTool): string {
  const names = Object.keys(isRecord(inputSchema['properties']) ? inputSchema['properties'] : {})
  return names.length === 0 ? 'none' : names.join(', ').replace(/[\r\n\u2028\u2029]+/g, ' ')
}

/** All that stands elsewhere than in the description. */
function furtherTexts ({ title, inputSchema, outputSchema, annotations = {} }: McpTool): string[] {
  const texts = Object.entries(annotations).flatMap(([name, value]) => typeof value === 'boolean' ? [] : [`annotation ${name}: ${JSON.stringify(value)}`])
  return [
    ...title === undefined ? [] : [`title: ${JSON.stringify(title)}`],
    ...texts,
    ...schemaTexts(inputSchema).map(line => `argument ${line}`),
    ...schemaTexts(outputSchema).map(line => `output ${line}`)
  ].map(line => `        ${line}`)
}

function differences (before: McpTool, after: McpTool): string[] {
  const bytesOf = (tool: McpTool): Buffer => Buffer.from(`${JSON.stringify(mcpTool(tool), null, 2)}\n`)
  const diff = unifiedDiff(after.name, bytesOf(before), bytesOf(after))
  if (diff === null) return [`      so much that it is shown as it is now${hints(after)}`, ...wholeOf(after)]
  // The first lines name the files.
  return [...diff.trimEnd().split('\n').slice(4).filter(line => !line.startsWith('@@') && !line.startsWith('\\')).map(line => `      ${line}`), ...longNote(after)]
}

function indented (text: string): string[] {
  return text.trimEnd().split('\n').map(line => `      ${line}`)
}
