import { isRecord, writeJson, firstChars } from '@toolyard/contract/terms'
import type { Skill, Tool } from '@toolyard/manifests'
import { isSpecType, ProtocolError, ProtocolErrorCode, type GetPromptResult, type InputRequiredResult, type Prompt } from '@modelcontextprotocol/server'
import type { Publication } from '../../catalog/tool-catalog.ts'
import { blocksOf } from '../call/call-result.ts'
import type { OfferedTool } from './offered-tool.ts'

/** Values that are proposed at once: what the protocol allows. */
const mostValues = 100

/** The prompts of a key: its skills, and the tools that are published as prompts. A skill wins over a tool of its name. */
export function listPrompts (skills: readonly Skill[], { prompts }: Publication): Prompt[] {
  const own = new Set(skills.map(({ name }) => name))
  return [
    ...skills.map(skillPrompt),
    ...prompts.filter(({ name }) => !own.has(name)).map(tool => (
      { name: tool.name, description: tool.description, arguments: argumentsOf(tool) }
    ))
  ]
}

/** @throws ProtocolError for a prompt that the key doesn't see, and for arguments that don't fit. */
export async function getPrompt (
  name: string, args: Record<string, string>, offered: { skills: readonly Skill[], publication: Publication, tool: OfferedTool }
): Promise<GetPromptResult | InputRequiredResult> {
  const skill = offered.skills.find(skill => skill.name === name)
  if (skill !== undefined) return await offered.tool.inTurn(() => ({ description: skill.description, messages: [message(withArguments(skill, args['arguments']))] }))
  const prompt = offered.publication.prompts.find(prompt => prompt.name === name)
  if (prompt === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${firstChars(name, 200)}`)
  const made = await offered.tool.run(name, args)
  return made.kind === 'asked' ? made.result : await offered.tool.inTurn(() => ({ description: prompt.description, ...promptOf(made.read()) }))
}

/** What authors of skills write for the words that a person puts behind the name of one, or for one of these words. */
const placeholder = /\$ARGUMENTS(?:\[(\d{1,2})\])?/g
const most = { argumentChars: 4_096, placeholders: 100 }

/** A skill takes arguments where its text has a place for them, or its front matter says what they are. */
function skillPrompt ({ name, description, text, frontMatter: { 'argument-hint': hint } }: Skill): Prompt {
  if (hint === undefined && !text.includes('$ARGUMENTS')) return { name, description }
  const shown = Array.isArray(hint) ? hint.map(each => `[${String(each)}]`).join(' ') : typeof hint === 'string' ? hint : 'What the skill is used for.'
  return { name, description, arguments: [{ name: 'arguments', description: shown, required: false }] }
}

function withArguments ({ text }: Skill, given = ''): string {
  if (given.length > most.argumentChars) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `arguments must have at most ${most.argumentChars} characters`)
  const words = given.trim().split(/\s+/)
  let replaced = 0
  const filled = text.replace(placeholder, (written, at?: string) => ++replaced > most.placeholders ? written : at === undefined ? given : words[Number(at)] ?? '')
  return replaced === 0 && given !== '' ? `${text.trimEnd()}\n\nARGUMENTS: ${given}\n` : filled
}

/** The values of an argument that begin with what was typed: those that the schema lists. */
export function completions (
  tool: Tool | undefined, argument: string, typed: string
): { values: string[], total: number, hasMore: boolean } {
  const schema = tool === undefined ? undefined : propertiesOf(tool)[argument]
  const listed = isRecord(schema) && Array.isArray(schema['enum']) ? schema['enum'] : []
  const begin = typed.toLowerCase()
  const fit = listed.filter(value => typeof value === 'string').filter(value => value.toLowerCase().startsWith(begin))
  return { values: fit.slice(0, mostValues), total: fit.length, hasMore: fit.length > mostValues }
}

/** Messages where the output has some, content blocks as a message each, else one text. */
function promptOf (output: unknown): GetPromptResult {
  if (isSpecType.GetPromptResult(output)) {
    const { description, messages } = output
    return { ...description !== undefined && { description }, messages }
  }
  const blocks = blocksOf(output)
  if (blocks !== undefined) return { messages: blocks.content.map(content => ({ role: 'user', content })) }
  return { messages: [message(typeof output === 'string' ? output : writeJson(output))] }
}

function message (text: string): GetPromptResult['messages'][number] {
  return { role: 'user', content: { type: 'text', text } }
}

function argumentsOf (tool: Tool): NonNullable<Prompt['arguments']> {
  const { required } = tool.parameters
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(propertiesOf(tool)).map(([name, schema]) => {
    const description = isRecord(schema) ? schema['description'] : undefined
    return { name, ...typeof description === 'string' && { description }, required: needed.has(name) }
  })
}

function propertiesOf ({ parameters: { properties } }: Tool): Record<string, unknown> {
  return isRecord(properties) ? properties : {}
}
