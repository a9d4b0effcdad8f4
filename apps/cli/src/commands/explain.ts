import { readFileSync } from 'node:fs'
import { jsonOption, type Command } from '../terminal/command.ts'
import { CommandError, exitStatus } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'

/** What rules.json has of each rule; `npm run conformance` writes it. */
interface Rule {
  sentence: string
  /** What Toolyard does instead, on purpose. */
  differs?: string
}

/** `toolyard explain`: what a rule id in a message stands for. */
export const explain: Command = {
  name: 'explain',
  summary: 'Tell what a rule in a message asks for, such as A31',
  help: 'Findings of validate, logs and errors name the rule that is not kept, such as A31, lint/depth or "fault 46". This tells what it asks for.',
  arguments: ['<rule...>'],
  options: [jsonOption],
  complete: async () => Object.keys(readRules().rules).filter(id => !id.includes(' ')),
  run: async ({ args, options }) => {
    const { rules, page } = readRules()
    const asked = args.join(' ')
    const id = Object.keys(rules).find(each => each.toLowerCase() === asked.toLowerCase())
    const rule = id === undefined ? undefined : rules[id]
    if (id === undefined || rule === undefined) throw new CommandError(`there is no rule '${asked}'. All of them are at ${page}`, { code: 'NOT_FOUND' })
    if (options['json'] === true) print(JSON.stringify({ ok: true, rule: id, ...rule, page }, null, 2))
    else print([`${id}  ${rule.sentence}`, ...rule.differs === undefined ? [] : [`Here: ${rule.differs}`], `More: ${page}`].join('\n'))
    return exitStatus.done
  }
}

function readRules (): { page: string, rules: Record<string, Rule> } {
  return JSON.parse(readFileSync(new URL('../../rules.json', import.meta.url), 'utf8')) as ReturnType<typeof readRules>
}
