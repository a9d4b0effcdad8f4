/** An agent on the Responses API: the text is streamed, and a turn may have several calls. */
import { Toolyard } from '@toolyard/client'
import OpenAI from 'openai'

const toolyard = new Toolyard()
const openai = new OpenAI()
const tools = await toolyard.tools('responses')

/** @type {OpenAI.Responses.ResponseInput} */
const input = [{ role: 'user', content: process.argv[2] ?? 'Which files do I have?' }]
for (;;) {
  const stream = openai.responses.stream({ model: process.env['MODEL'] ?? 'gpt-5.2', input, tools })
  stream.on('response.output_text.delta', ({ delta }) => { process.stdout.write(delta) })
  const response = await stream.finalResponse()
  const answers = await toolyard.invoke(response)
  if (answers.length === 0) break
  const output = /** @type {OpenAI.Responses.ResponseInputItem[]} */ (response.output)
  input.push(...output, ...answers)
}
process.stdout.write('\n')
