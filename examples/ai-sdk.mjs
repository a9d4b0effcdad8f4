/** An agent on the AI SDK, which runs the loop itself: each tool is given as one that Toolyard calls. */
import { openai } from '@ai-sdk/openai'
import { exactJson, Toolyard } from '@toolyard/client'
import { dynamicTool, jsonSchema, stepCountIs, streamText } from 'ai'

const toolyard = new Toolyard()
const specs = await toolyard.tools('anthropic')
const tools = Object.fromEntries(specs.map(({ name, description, input_schema: schema }) => [name, dynamicTool({
  description,
  inputSchema: jsonSchema(schema),
  execute: async (input, { abortSignal }) => exactJson.stringify(await toolyard.call(name, input, { signal: abortSignal }))
})]))

const { textStream } = streamText({
  model: openai(process.env['MODEL'] ?? 'gpt-5.2'),
  prompt: process.argv[2] ?? 'Which files do I have?',
  tools,
  stopWhen: stepCountIs(20)
})
for await (const text of textStream) process.stdout.write(text)
process.stdout.write('\n')
