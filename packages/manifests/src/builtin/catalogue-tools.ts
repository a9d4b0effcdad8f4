import { limits } from '@toolyard/contract/terms'
import { closedObject, type BuiltinDeclaration } from './declaration.ts'

const { queryChars, results } = limits.toolSearch

/** Finds tools that no list has. */
export const searchTools: BuiltinDeclaration = {
  name: 'search_tools',
  jobType: 'tools.search',
  description: 'Find tools by what they do: there are more than are listed. Returns the names, descriptions and parameters of the best matches, which can be called by name, with call_tool where they are not listed.',
  timeoutSec: limits.waitMs.max / 1_000,
  idempotent: true,
  permissions: [],
  action: 'search_tools',
  parameters: closedObject({
    query: { type: 'string', minLength: 1, maxLength: queryChars, description: 'What the tool should do, in a few words.' },
    namespace: { type: 'string', maxLength: 200, description: 'Only tools of this namespace.' },
    limit: { type: 'integer', minimum: results.min, maximum: results.max, default: results.default, description: 'Most tools to return.' }
  }, ['query'])
}

/** Calls a tool that the model's list doesn't have. */
export const callTool: BuiltinDeclaration = {
  name: 'call_tool',
  jobType: 'tools.call',
  description: 'Call a tool that search_tools has found. Answers as the tool does.',
  timeoutSec: limits.waitMs.max / 1_000,
  permissions: [],
  action: 'call_tool',
  parameters: closedObject({
    name: { type: 'string', minLength: 1, maxLength: 200, description: 'The name of the tool.' },
    arguments: { type: 'object', description: 'The arguments of the tool, as its parameters say.' }
  }, ['name'])
}
