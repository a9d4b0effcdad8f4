import { additions } from './rule-ids/additions.ts'
import { deviations } from './rule-ids/deviations.ts'
import { lintRules } from './rule-ids/lint.ts'
import { sourceOf } from './rule-ids/sources.ts'
import type { Citation } from './rules.ts'

/** A part of the rules: its name, and the ids that belong to it. */
interface Part {
  title: string
  prefix: RegExp
}

const parts: readonly Part[] = [
  { title: 'A: commands (agentcli tools.json)', prefix: /^AC?\d/ },
  { title: 'P: tool manifests', prefix: /^PC?\d/ },
  { title: 'S: skills', prefix: /^S[CN]?\d/ },
  { title: 'R: the API', prefix: /^RC?\d/ },
  { title: 'X: conflicts and how they are settled', prefix: /^X\d/ },
  { title: 'B: bugs of the original programs that are not copied', prefix: /^B\d/ },
  { title: 'Faults and attacks', prefix: /^fault / }
]

/** The text of docs/conformance.md: every rule, the tests that cite it, and whether there are any. */
export function renderConformance (rules: Record<string, string>, citations: readonly Citation[]): string {
  const intro = [
    '# Conformance',
    '',
    'Every rule that Toolyard implements, where it comes from, and the tests whose titles cite it. Made from those titles by',
    '`npm run conformance`; a test of the repository fails when this page is out of date.'
  ]
  const apart = ['', '## Where Toolyard differs on purpose', '', '| rule | what it does instead |', '|---|---|', ...Object.entries(deviations).map(([id, text]) => `| ${id} | ${text} |`)]
  const more = ['', '## What answers have beside what is specified', '', 'A test replays each example of the API\'s specification, and compares all but these.', '', '| field | why |', '|---|---|', ...additions.map(({ field, why }) => `| \`${field}\` | ${why} |`)]
  const notes = ['', '## Notes for models, and rules of entries of Toolyard\'s own', '', '| rule | what it says |', '|---|---|', ...Object.entries(lintRules).map(([id, text]) => `| ${id} | ${text} |`)]
  return [...intro, ...apart, ...more, ...notes, ...parts.flatMap(part => renderPart(part, rules, citations))].join('\n') + '\n'
}

/** The text of rules.json, from which `toolyard explain` tells what a rule asks for. */
export function renderRules (rules: Record<string, string>): string {
  const known = Object.entries(rules).map(([id, sentence]): [string, object] =>
    [id, { sentence, source: sourceOf(id), ...(deviations[id] === undefined ? {} : { differs: deviations[id] }) }])
  return `${JSON.stringify({ rules: Object.fromEntries(known) }, null, 1)}\n`
}

function renderPart (part: Part, rules: Record<string, string>, citations: readonly Citation[]): string[] {
  const rows = Object.entries(rules).filter(([id]) => part.prefix.test(id)).map(([id, sentence]) => {
    const files = [...new Set(citations.filter(citation => citation.id === id).map(({ at }) => at.replace(/:\d+$/, '')))].sort()
    const tests = files.map(file => `[${file.replace(/^test\//, '')}](../${file})`).join(', ')
    return `| ${id} | ${sentence.replaceAll('|', '\\|')} | ${sourceOf(id)} | ${files.length > 0 ? 'tested' : 'no test'} | ${tests} |`
  })
  return ['', `## ${part.title}`, '', '| rule | what it is about | where it comes from | state | tests |', '|---|---|---|---|---|', ...rows]
}
