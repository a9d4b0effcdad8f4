/** An agent on Anthropic's messages: the text is streamed, and a turn may have several calls. */
import Anthropic from '@anthropic-ai/sdk'
import { Toolyard } from '@toolyard/client'

const toolyard = new Toolyard()
const anthropic = new Anthropic()
const tools = await toolyard.tools('anthropic')

/** @type {Anthropic.MessageParam[]} */
const messages = [{ role: 'user', content: process.argv[2] ?? 'Which files do I have?' }]
for (;;) {
  const stream = anthropic.messages.stream({ model: process.env['MODEL'] ?? 'claude-opus-4-8', max_tokens: 4096, messages, tools })
  stream.on('text', text => { process.stdout.write(text) })
  const message = await stream.finalMessage()
  const answers = await toolyard.invoke(message)
  if (answers.length === 0) break
  messages.push({ role: message.role, content: message.content }, ...answers)
}
process.stdout.write('\n')
