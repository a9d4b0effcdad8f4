import type { ToolFormat } from '@toolyard/contract'
import { isRecord, firstChars } from '@toolyard/contract/terms'
import { goQuote } from '../finding/go-quote.ts'
import type { Finding } from '../finding/finding.ts'
import type { Registry } from '../registry/registry.ts'
import type { Tool } from '../tool/tool.ts'
import { providerSchema } from './provider-schema.ts'
import { strictForm } from './strict-form.ts'
import { schemaSize } from './strict-size.ts'

/** Beyond these, models choose or fill tools badly, or an API refuses them. */
const advice = {
  /** Functions that one request to OpenAI may carry. */
  tools: 128,
  /** UTF-16 units. OpenAI took no more until May 2025; gateways before other models still count. Nothing is cut. */
  descriptionChars: { min: 10, max: 1_024 },
  /** Levels of nested objects and lists. */
  depth: 5,
  properties: 50,
  /** UTF-16 units of a schema's JSON: about 2,000 tokens, which every turn pays for. */
  schemaChars: 8_000,
  /** UTF-16 units that are shown of a schema. */
  sentChars: 2_000
} as const

/** Keywords of JSON Schema whose value may look like a parameter. */
const schemaKeywords = new Set(['default', 'const', 'items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'])

const formats: readonly ToolFormat[] = ['chat', 'responses', 'anthropic', 'gemini', 'bedrock']
export const lintProviders = ['openai', 'anthropic', 'gemini'] as const
export type ProviderName = (typeof lintProviders)[number]
const formatsOf: Readonly<Record<ProviderName, readonly ToolFormat[]>> = { openai: ['chat', 'responses'], anthropic: ['anthropic'], gemini: ['gemini'] }

/** The message has no place in front. */
type Advice = [rule: string, message: string, fix: string]

/**
 * Looks at published tools as models see them: advice, never a reason not to serve a tool, and nothing is changed. Rules
 * are `lint/count`, `lint/name`, `lint/description`, `lint/depth`, `lint/properties`, `lint/size`, `lint/strict` and
 * `lint/provider`. Built-in tools are not looked at, but counted.
 */
export function lintForModels (registry: Registry, provider?: ProviderName): Finding[] {
  const about = provider === undefined ? formats : formatsOf[provider]
  const published = registry.published().map(({ tool }) => tool)
  const tools = published.filter(({ source }) => source.format !== 'builtin')
  const twins = twinsOf(published)
  return [
    ...countFindings(published),
    ...tools.flatMap(tool => [
      ...nameAdvice(tool, twins), ...descriptionAdvice(tool), ...schemaAdvice(tool), ...providerAdvice(tool, about, provider !== undefined)
    ].map(advice => finding(tool, advice)))
  ]
}

function countFindings (published: readonly Tool[]): Finding[] {
  const first = published[advice.tools]
  if (first === undefined) return []
  return [finding(first, [
    'lint/count',
    `is number ${advice.tools + 1} of ${published.length} published tools, and models take ${advice.tools}`,
    'Disable tools, or let agents choose among them.'
  ])]
}

/** Names by what is left of them without case and separators. */
function twinsOf (tools: readonly Tool[]): ReadonlyMap<string, readonly string[]> {
  const twins = new Map<string, string[]>()
  for (const { name } of tools) twins.set(folded(name), [...twins.get(folded(name)) ?? [], name])
  return twins
}

function folded (name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '')
}

function nameAdvice ({ name }: Tool, twins: ReadonlyMap<string, readonly string[]>): Advice[] {
  const others = (twins.get(folded(name)) ?? []).filter(other => other !== name)
  return [
    ...others.length > 0 ? [['lint/name', `looks like ${others.map(goQuote).join(', ')}, which models mix up`, 'Choose names that differ in a word.'] satisfies Advice] : [],
    ...folded(name).length < 3 ? [['lint/name', 'has a name that tells nothing', 'Name what the tool does, such as get_time.'] satisfies Advice] : []
  ]
}

function descriptionAdvice ({ description }: Tool): Advice[] {
  const { min, max } = advice.descriptionChars
  if (description.trim().length < min) {
    return [['lint/description', `has a description of ${description.trim().length} characters, from which a model can't tell when to use it`, 'Say what it does, and when to use it.']]
  }
  if (description.length <= max) return []
  return [['lint/description', `has a description of ${description.length} characters, of which some gateways take ${max}`, 'Make it shorter; put details into the descriptions of parameters.']]
}

function schemaAdvice ({ parameters }: Tool): Advice[] {
  const { depth, properties } = schemaSize(parameters)
  const { length } = JSON.stringify(parameters)
  const form = strictForm(parameters)
  const astray = Object.keys(parameters).filter(name => !schemaKeywords.has(name) && !/^(?:x-|\$)/.test(name) && isParameter(parameters[name]))
  const found: Array<Advice | false> = [
    astray.length > 0 && ['lint/properties', `has ${astray.slice(0, 5).map(goQuote).join(', ')} beside "properties", where neither models nor the check of calls see a parameter`, 'Put parameters into "properties": {"type": "object", "properties": {...}}.'],
    depth > advice.depth && ['lint/depth', `has parameters of ${depth} levels; models fill more than ${advice.depth} badly`, 'Make them flatter.'],
    properties > advice.properties && ['lint/size', `has ${properties} parameters; models fill more than ${advice.properties} badly`, 'Split the tool.'],
    length > advice.schemaChars && ['lint/size', `has a schema of ${length} characters, which every turn of an agent pays for`, 'Make it smaller.'],
    'refused' in form && ['lint/strict', `has no strict form: ${form.refused}`, 'Nothing, when models need not keep to the schema exactly; else avoid what is named.']
  ]
  return found.filter(each => each !== false)
}

/** Whether it describes a value, as what stands in `properties` does. */
function isParameter (value: unknown): boolean {
  return isRecord(value) && typeof value['type'] === 'string'
}

/** The changes of a schema before it is sent, and for whom; where one provider is asked about, also the schema that is sent. */
function providerAdvice ({ parameters }: Tool, formats: readonly ToolFormat[], isOne: boolean): Advice[] {
  const forWhom = new Map<string, ToolFormat[]>()
  for (const format of formats) {
    for (const change of providerSchema(parameters, format).changes) forWhom.set(change, [...forWhom.get(change) ?? [], format])
  }
  return [...forWhom].map(([change, formats]) => ([
    'lint/provider',
    `is sent to models with another schema, since their APIs refuse this one: ${change} (${formats.join(', ')})`,
    isOne && formats[0] !== undefined
      ? `Sent instead: ${shortened(JSON.stringify(providerSchema(parameters, formats[0]).schema), advice.sentChars)}`
      : 'Nothing: calls are checked against the schema as it is written. Or write it so yourself.'
  ]))
}

function shortened (text: string, most: number): string {
  return text.length <= most ? text : `${firstChars(text, most)}...`
}

function finding ({ name, source: { file, index } }: Tool, [rule, message, fix]: Advice): Finding {
  return { severity: 'note', file, rule, index, tool: name, message: `tool[${index}] ${goQuote(name)}: ${message}`, fix }
}
