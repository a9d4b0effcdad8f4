import type { ApprovalDetail, ApprovalItem, Toolyard } from '@toolyard/client'
import { around, prettyJson, visible } from '@toolyard/contract/terms'
import { cursorOption, jsonOption, nextPage, textOption, type Command } from '../../terminal/command.ts'
import { agrees, hasTerminal } from '../../terminal/agreement.ts'
import { exitStatus, misuse } from '../../terminal/exit-status.ts'
import { complain, print } from '../../terminal/terminal.ts'
import { withClient } from '../target.ts'

const help = 'Held calls wait until somebody approves them: docs/approvals.md. It needs a key with the role approver or admin that did not submit the call.'

const list: Command = {
  name: 'list',
  summary: 'List the calls that wait for an approval, the newest first',
  help: 'Lists the held calls that the key may see, with the first characters of their arguments.',
  options: [['--tool <name>', 'of this tool'], ['--key <name>', 'submitted by the API key of this name'], ['--tenant <name>', 'of this tenant'], ['--limit <n>', '1 to 200 (default: 50)'], cursorOption, jsonOption],
  run: withClient(async ({ approvals }, { options }) => {
    const [tool, key, tenant, cursor, limit] = ['tool', 'key', 'tenant', 'cursor', 'limit'].map(name => textOption(options, name))
    const page = await approvals.list({ tool, key, tenant, cursor, limit: limit === undefined ? undefined : Number(limit) })
    if (options['json'] === true) print(prettyJson(page))
    else print(page.approvals.length === 0 ? 'No calls wait for an approval' : [...page.approvals.map(row), ...nextPage('toolyard approvals list', options, page.next_cursor)].join('\n'))
  })
}

const show: Command = {
  name: 'show',
  summary: 'Show what a held call would run',
  help: 'Prints a held call as JSON: tool, arguments, who asks, the rule, and the digest that a decision comes with.',
  arguments: ['<job id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''] }) => {
    print(visible(prettyJson(await read(client, id))))
  })
}

function decision (name: 'approve' | 'deny', summary: string, why: string): Command {
  return {
    name,
    summary,
    help: `${help}\nWhat was shown is what is decided: --digest names it. Without --digest the call is shown, and a terminal is asked.`,
    arguments: ['<job id>'],
    options: [['--reason <text>', why], ['--digest <digest>', 'of what was shown, as toolyard approvals show prints it: another call is not decided about'], jsonOption],
    run: withClient(async (client, { args: [id = ''], options }) => {
      const digest = textOption(options, 'digest') ?? await agreedDigest(client, id, { name, isJson: options['json'] === true })
      if (digest === undefined) return exitStatus.failed
      const approval = await client.approvals[name](id, { digest, reason: textOption(options, 'reason') })
      const { approval: { state } } = approval
      print(options['json'] === true ? prettyJson(around({ ok: true, approval })) : `${id}  ${state === 'held' ? 'noted; more keys must approve' : state}`)
      return exitStatus.done
    })
  }
}

/**
 * Shows a call at a terminal and asks about it.
 *
 * @returns the digest of what was shown; undefined where nobody agrees.
 */
async function agreedDigest (
  client: Toolyard, id: string, { name, isJson }: { name: string, isJson: boolean }
): Promise<string | undefined> {
  if (isJson || !hasTerminal()) throw misuse(`--digest is missing: what was shown is what is decided. toolyard approvals show ${id} prints the call and its digest`)
  const held = await read(client, id)
  print(visible(prettyJson(held)))
  if (await agrees(`${name === 'approve' ? 'Approve' : 'Deny'} this call, as it is shown here?`)) return held.approval.digest
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

async function read ({ approvals }: Toolyard, id: string): Promise<ApprovalDetail> {
  if (id === '') throw misuse('name the job')
  return await approvals.get(id)
}

function row ({ job_id: id, tool, key, tenant, arguments_preview: args, approval: { expires_at: until, reason } }: ApprovalItem): string {
  return [id, tool, tenant === null ? key : `${key} (${tenant})`, visible(args), reason, `until ${until}`]
    .filter(each => each !== null && each !== undefined).join('  ')
}
