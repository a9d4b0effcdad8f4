import { isPublishableName, publishableNamePattern } from '@toolyard/contract/terms'
import type { Finding } from '../finding/finding.ts'
import { goQuote } from '../finding/go-quote.ts'
import type { Tool } from '../tool/tool.ts'

/** The tools whose names models don't accept. */
export function nameFindings (tools: readonly Tool[]): Finding[] {
  return tools.filter(tool => !isPublishableName(tool.name)).map(({ name, source: { file, index } }) => ({
    severity: 'warning',
    file,
    rule: 'X12',
    index,
    tool: name,
    message: `tool[${index}] ${goQuote(name)}: is not published to models, whose tool names must match ${publishableNamePattern}`,
    fix: 'Rename the tool. Callers can still invoke it by its exact name.'
  }))
}
