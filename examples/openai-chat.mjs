/** An agent on chat completions: the text is streamed, and a turn may have several calls. */
import { Toolyard } from '@toolyard/client'
import OpenAI from 'openai'

const toolyard = new Toolyard()
const openai = new OpenAI()
const tools = await toolyard.tools('chat')

/** @type {OpenAI.ChatCompletionMessageParam[]} */
const messages = [{ role: 'user', content: process.argv[2] ?? 'Which files do I have?' }]
for (;;) {
  const stream = openai.chat.completions.stream({ model: process.env['MODEL'] ?? 'gpt-5.2', messages, tools })
  stream.on('content', text => { process.stdout.write(text) })
  const message = await stream.finalMessage()
  const answers = await toolyard.invoke(message)
  if (answers.length === 0) break
  messages.push(message, ...answers)
}
process.stdout.write('\n')
