/** An agent on LangChain: each tool is given as one that Toolyard calls, which agents of LangChain and LangGraph take too. */
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { exactJson, Toolyard } from '@toolyard/client'

const toolyard = new Toolyard()
const specs = await toolyard.tools('anthropic')
const tools = specs.map(({ name, description, input_schema: schema }) => tool(
  // A model can mend what it is told of; an error that is thrown would end the loop.
  async args => await toolyard.call(name, args).then(exactJson.stringify, String),
  { name, description, schema }
))

const toolsByName = new Map(tools.map(each => [each.name, each]))

const model = new ChatOpenAI({ model: process.env['MODEL'] ?? 'gpt-5.2' }).bindTools(tools)
/** @type {import('@langchain/core/messages').BaseMessage[]} */
const messages = [new HumanMessage(process.argv[2] ?? 'Which files do I have?')]
for (;;) {
  const message = await model.invoke(messages)
  messages.push(message)
  const calls = message.tool_calls ?? []
  if (calls.length === 0) break
  messages.push(...await Promise.all(calls.map(async call => (
    await toolsByName.get(call.name)?.invoke(call) ?? new ToolMessage({ tool_call_id: call.id ?? '', content: `There is no tool ${call.name}.` })
  ))))
}
console.log(messages.at(-1)?.text)
