/*
 * A question of a tool: a form that a person fills in, a message of a model, or the directories that its client works in (`roots`).
 * The last two are those of MCP, and fixed: what comes with the question, and what is an answer to it.
 */

export type QuestionKind = 'form' | 'sampling' | 'roots'

type Schema = Record<string, unknown>

interface QuestionForm {
  /** How MCP asks it. */
  method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  /** The text where the question has none. */
  text?: string
  params?: Schema
  /** Absent: the question says it. */
  answer?: Schema
}

const text = { type: 'string' }
const object = { type: 'object' }
const record = (properties: object, required = Object.keys(properties)): Schema => ({ type: 'object', properties, required })
const block = (type: string, fields: object): Schema => record({ type: { const: type }, ...fields })
const media = { data: text, mimeType: text }
const content = {
  anyOf: [
    block('text', { text }), block('image', media), block('audio', media), block('tool_use', { id: text, name: text, input: object }),
    block('tool_result', { toolUseId: text, content: { type: 'array', items: object } })
  ]
}
const message = { role: { enum: ['user', 'assistant'] }, content: { anyOf: [...content.anyOf, { type: 'array', items: content }] } }

export const questionKinds: Readonly<Record<QuestionKind, QuestionForm>> = {
  form: { method: 'elicitation/create' },
  sampling: {
    method: 'sampling/createMessage',
    text: 'What does a model say to these messages?',
    params: {
      type: 'object',
      properties: {
        messages: { type: 'array', items: record(message) },
        maxTokens: { type: 'integer', minimum: 1 },
        systemPrompt: text,
        includeContext: { enum: ['none', 'thisServer', 'allServers'] },
        temperature: { type: 'number' },
        stopSequences: { type: 'array', items: text },
        modelPreferences: object,
        metadata: object,
        tools: { type: 'array', items: record({ name: text, inputSchema: object }) },
        toolChoice: object
      },
      required: ['messages', 'maxTokens'],
      additionalProperties: false
    },
    answer: record({ ...message, model: text, stopReason: text }, ['role', 'content', 'model'])
  },
  roots: {
    method: 'roots/list',
    text: 'Which directories are worked in?',
    answer: record({ roots: { type: 'array', items: record({ uri: { type: 'string', pattern: '^file://' }, name: text }, ['uri']) } })
  }
}

export function isQuestionKind (kind: unknown): kind is QuestionKind {
  return typeof kind === 'string' && Object.hasOwn(questionKinds, kind)
}
