import { pathSegment } from '@toolyard/client'
import { isRecord, prettyJson, visible } from '@toolyard/contract/terms'
import { jsonOption, textOption, type Command } from '../../terminal/command.ts'
import { agrees, hasTerminal } from '../../terminal/agreement.ts'
import { exitStatus, misuse } from '../../terminal/exit-status.ts'
import { complain, print } from '../../terminal/terminal.ts'
import { askBriefly, strangeAnswer } from '../ask-service.ts'
import { asking, type Target } from '../target.ts'

const help = 'Held calls wait until somebody approves them: docs/approvals.md. It needs a key with the role approver or admin that did not submit the call.'

const list: Command = {
  name: 'list',
  summary: 'List the calls that wait for an approval, the newest first',
  help: 'Lists the held calls that the key may see, with the first characters of their arguments.',
  options: [['--tool <name>', 'of this tool'], ['--key <name>', 'submitted by the API key of this name'], ['--tenant <name>', 'of this tenant'], ['--limit <n>', '1 to 200 (default: 50)'], jsonOption],
  run: asking(async (target, { options }) => {
    const query = new URLSearchParams(['tool', 'key', 'tenant', 'limit'].flatMap(name => {
      const value = textOption(options, name)
      return value === undefined ? [] : [[name, value] as [string, string]]
    }))
    const answer = await askBriefly(target, 'GET', `/v1/approvals?${query.toString()}`)
    const { approvals } = answer
    if (!Array.isArray(approvals) || !approvals.every(isRecord)) throw strangeAnswer(target, answer)
    print(options['json'] === true ? prettyJson(answer) : approvals.length === 0 ? 'No calls wait for an approval' : approvals.map(row).join('\n'))
  })
}

const show: Command = {
  name: 'show',
  summary: 'Show what a held call would run',
  help: 'Prints a held call as JSON: tool, arguments, who asks, the rule, and the digest that a decision comes with.',
  arguments: ['<job id>'],
  options: [jsonOption],
  run: asking(async (target, { args: [id = ''] }) => {
    print(visible(prettyJson((await read(target, id)).approval)))
  })
}

/** `approve` or `deny`. */
function decision (name: 'approve' | 'deny', summary: string, why: string): Command {
  return {
    name,
    summary,
    help: `${help}\nWhat was shown is what is decided: --digest names it. Without --digest the call is shown, and a terminal is asked.`,
    arguments: ['<job id>'],
    options: [['--reason <text>', why], ['--digest <digest>', 'of what was shown, as toolyard approvals show prints it: another call is not decided about'], jsonOption],
    run: asking(async (target, { args: [id = ''], options }) => {
      const reason = textOption(options, 'reason')
      const digest = textOption(options, 'digest') ?? await agreedDigest(target, id, { name, isJson: options['json'] === true })
      if (digest === undefined) return exitStatus.failed
      const answer = await askBriefly(target, 'POST', `/v1/approvals/${pathSegment(id)}`, { decision: name, digest, ...reason !== undefined && { reason } })
      const { approval } = answer
      const state = isRecord(approval) && isRecord(approval['approval']) ? String(approval['approval']['state']) : ''
      print(options['json'] === true ? prettyJson(answer) : `${id}  ${state === 'held' ? 'noted; more keys must approve' : state}`)
      return exitStatus.done
    })
  }
}

/**
 * Shows a call at a terminal and asks about it.
 *
 * @returns the digest of what was shown; undefined where nobody agrees.
 */
async function agreedDigest (target: Target, id: string, { name, isJson }: { name: string, isJson: boolean }): Promise<string | undefined> {
  if (isJson || !hasTerminal()) throw misuse(`--digest is missing: what was shown is what is decided. toolyard approvals show ${id} prints the call and its digest`)
  const { approval, digest } = await read(target, id)
  print(visible(prettyJson(approval)))
  if (await agrees(`${name === 'approve' ? 'Approve' : 'Deny'} this call, as it is shown here?`)) return digest
  complain(`toolyard approvals ${name}: nothing was decided`)
  return undefined
}

/** `toolyard approvals`: calls that wait for a person. */
export const approvals: Command = {
  name: 'approvals',
  summary: 'List, show, approve and deny held calls',
  help,
  commands: [
    list, show, decision('approve', 'Let a held call run', 'is kept with the job'), decision('deny', 'End a held call without running it', 'is told to the model')
  ]
}

async function read (target: Target, id: string): Promise<{ approval: unknown, digest: string }> {
  if (id === '') throw misuse('name the job')
  const answer = await askBriefly(target, 'GET', `/v1/approvals/${pathSegment(id)}`)
  const { approval } = answer
  const inner = isRecord(approval) ? approval['approval'] : undefined
  if (!isRecord(inner) || typeof inner['digest'] !== 'string') throw strangeAnswer(target, answer)
  return { approval, digest: inner['digest'] }
}

function row (held: Record<string, unknown>): string {
  const { job_id: id, tool, key, tenant, arguments_preview: args, approval } = held
  const { expires_at: until, reason } = isRecord(approval) ? approval : {}
  return [id, tool, typeof tenant === 'string' ? `${String(key)} (${tenant})` : key, visible(String(args)), reason, `until ${String(until)}`]
    .filter(each => each !== null && each !== undefined).map(String).join('  ')
}
