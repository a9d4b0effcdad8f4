import { nearNames } from '@toolyard/contract/terms'
import { readRules, rulesPage } from './rules.ts'
import { jsonOption, type Command } from '../terminal/command.ts'
import { CommandError } from '../terminal/exit-status.ts'
import { meantText, print } from '../terminal/terminal.ts'

/** Ids that an unknown one is answered with. */
const nearest = 3

/** `toolyard explain`: what a rule id in a message stands for. */
export const explain: Command = {
  name: 'explain',
  summary: 'Tell what a rule in a message asks for, such as A31',
  help: 'Findings of validate, logs and errors name the rule that is not kept, such as A31, lint/depth or "fault 46". This tells what it asks for.',
  arguments: ['<rule...>'],
  options: [jsonOption],
  complete: async () => Object.keys(readRules()).filter(id => !id.includes(' ')),
  run: async ({ args, options }) => {
    const rules = readRules()
    const page = rulesPage()
    const asked = args.join(' ')
    const id = Object.keys(rules).find(each => each.toLowerCase() === asked.toLowerCase())
    const rule = id === undefined ? undefined : rules[id]
    if (id === undefined || rule === undefined) {
      const all = page === undefined ? '' : ` All of them are in ${page}`
      throw new CommandError(`there is no rule '${asked}'.${didYouMean(asked, Object.keys(rules))}${all}`, { code: 'NOT_FOUND' })
    }
    if (options['json'] === true) print(JSON.stringify({ ok: true, rule: id, ...rule, ...(page === undefined ? {} : { page }) }, null, 2))
    else print([`${id}  ${rule.sentence}`, `From: ${rule.source}`, ...rule.differs === undefined ? [] : [`Here: ${rule.differs}`], ...page === undefined ? [] : [`All rules: ${page}`]].join('\n'))
  }
}

/** Ids are short: those of the same letters count as near too, by their numbers. */
function didYouMean (asked: string, ids: readonly string[]): string {
  const [letters = '', digits = ''] = /^([a-z]+)(\d+)/i.exec(asked)?.slice(1) ?? []
  const group = ids.filter(id => id.replace(/\d+$/, '').toLowerCase() === letters.toLowerCase())
  const sameGroup = [...group].sort((left, right) => gap(left, digits) - gap(right, digits)).slice(0, nearest)
  const near = sameGroup.length > 0
    ? sameGroup
    : nearNames(asked, ids).sort((left, right) => left.away - right.away).slice(0, nearest).map(({ name }) => name)
  return meantText(near)
}

function gap (id: string, digits: string): number {
  return Math.abs(Number(/\d+$/.exec(id)?.[0]) - Number(digits))
}
