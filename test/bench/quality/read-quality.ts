import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../../repo/source-tree.ts'

export interface Question {
  query: string
  tools: readonly string[]
}

const lines = (file: string): string[][] =>
  readFileSync(join(repoRoot, 'test/bench/quality', file), 'utf8').trimEnd().split('\n').map(line => line.split('\t'))

/** Names, descriptions and parameters of the tools of real APIs, as entries of manifests. */
export function qualityTools (): object[] {
  return lines('tools.tsv').map(([namespace, name, description, parameters = '']) => ({
    name,
    namespace,
    description,
    command: ['/bin/true'],
    schema: { type: 'object', properties: Object.fromEntries(parameters.split(' ').filter(each => each !== '').map(each => [each, {}])) }
  }))
}

/** In people's own words. */
export function qualityQuestions (): Question[] {
  return lines('questions.tsv').map(([query = '', tools = '']) => ({ query, tools: tools.split('|') }))
}
