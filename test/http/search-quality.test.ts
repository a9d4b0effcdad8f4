import t from 'tap'
import { qualityQuestions, qualityTools } from '../bench/quality/read-quality.ts'
import { injectService } from '../support/injected.ts'

const { client } = await injectService(t, { tools: qualityTools() })

void t.test('of 100 questions over 1,455 tools of real APIs and MCP servers, 95 find a tool that answers them among the first five', async t => {
  const questions = qualityQuestions()
  const missed: string[] = []
  for (const { query, tools } of questions) {
    const [result] = (await client.batch([{ call_id: 'c', name: 'search_tools', arguments: { query } }])).results
    if (result?.ok !== true) throw new Error(`${query}: ${JSON.stringify(result)}`)
    const found = (result.output as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)
    if (!tools.some(name => found.includes(name))) missed.push(query)
  }
  t.comment(`${questions.length - missed.length} of ${questions.length}; not: ${missed.join('; ')}`)
  t.ok(questions.length >= 200)
  t.ok(questions.length - missed.length >= 0.95 * questions.length)
})
