import type { ToolFormat } from '@toolyard/contract'
import { createPause, providerTools, type ServiceAction, type Tool } from '@toolyard/manifests'

/** They find the others for models whose provider defers nothing itself. */
const finders: readonly ServiceAction[] = ['search_tools', 'call_tool']
/** The name of a namespace as the Responses API takes it, and what it may say. */
const mostChars = { name: 64, description: 1_024 }

export interface DeferredList {
  format: ToolFormat
  strict: boolean
  /** Names of tools that are loaded from the start, beside those that are pinned. */
  pins: ReadonlySet<string>
}

/**
 * The JSON of a list of which models have few tools from the start, in the form of the provider: with its own tool search, the rest
 * is deferred; else the list has nothing but what is loaded, and what finds and calls the rest.
 */
export async function deferredTools (tools: readonly Tool[], { format, strict, pins }: DeferredList): Promise<string[]> {
  const isLoaded = ({ name, pinned }: Tool): boolean => pinned === true || pins.has(name)
  const pause = createPause()
  const specOf = providerTools(format, strict)
  const texts: string[] = []
  const add = async (tool: Tool, more: object = {}): Promise<string> => {
    await pause()
    return JSON.stringify({ ...specOf(tool), ...more })
  }
  const callable = tools.filter(tool => !isFinder(tool))
  switch (format) {
    case 'anthropic':
      for (const tool of callable) texts.push(await add(tool, isLoaded(tool) ? {} : { defer_loading: true }))
      return ['{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}', ...texts]
    case 'responses': {
      const spaces = new Map<string, Tool[]>()
      for (const tool of callable) {
        const { namespace } = tool
        if (isLoaded(tool)) texts.push(await add(tool))
        else if (namespace === undefined) texts.push(await add(tool, { defer_loading: true }))
        else spaces.set(namespace, [...spaces.get(namespace) ?? [], tool])
      }
      const names = new Set<string>()
      for (const [namespace, own] of spaces) {
        const inner: string[] = []
        for (const tool of own) inner.push(await add(tool, { defer_loading: true }))
        texts.push(`{"type":"namespace","name":${JSON.stringify(spaceName(namespace, names))},"description":${JSON.stringify(spaceText(namespace, own))},"tools":[${inner.join()}]}`)
      }
      return ['{"type":"tool_search"}', ...texts]
    }
    default:
      for (const tool of tools) if (isLoaded(tool) || isFinder(tool)) texts.push(await add(tool))
      return texts
  }
}

/** Whether a tool is for finding others, which a provider's own search does. */
function isFinder ({ run }: Tool): boolean {
  return run.kind === 'service' && finders.includes(run.action)
}

/** Letters that the API takes; two namespaces that come to the same name are told apart. */
function spaceName (namespace: string, taken: Set<string>): string {
  const plain = namespace.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, mostChars.name) || '_'
  let name = plain
  for (let number = 2; taken.has(name); number++) name = `${plain.slice(0, mostChars.name - String(number).length - 1)}_${number}`
  taken.add(name)
  return name
}

/** All that a model sees of a namespace before it searches. */
function spaceText (namespace: string, tools: readonly Tool[]): string {
  let text = `Tools of ${namespace}: `
  for (const [at, { name }] of tools.entries()) {
    const more = ` and ${tools.length - at} more`
    if (text.length + name.length + 2 + more.length > mostChars.description) return `${text.slice(0, -2)}${more}`
    text += `${name}, `
  }
  return text.slice(0, -2)
}
