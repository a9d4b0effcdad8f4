import { readFileSync } from 'node:fs'
import type { JobSummary, JobView, LogEntry } from '@toolyard/client'
import { around, isRecord, jobOrders, jobStates, prettyJson, writeJson } from '@toolyard/contract/terms'
import { cursorOption, jsonOption, nextPage, textOption, type Command, type CommandLine } from '../terminal/command.ts'
import { exitStatus, misuse } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'
import { readObject } from './call-arguments.ts'
import { withClient } from './target.ts'

/** How long a service that is being restarted is waited for by those who follow a job, in milliseconds. */
const followRetryMs = 30_000

const list: Command = {
  name: 'list',
  summary: 'List jobs, the newest first',
  help: 'Lists jobs that the key may see, the newest first unless --order says otherwise.',
  options: [
    ['--status <state>', jobStates.join(', ')], ['--queue <name>', 'of this queue'], ['--type <name>', 'of this job type'],
    ['--tag <tag>', 'with this tag'], ['--tool <name>', 'of this tool'],
    ['--key <name>', 'submitted by the API key of this name'], ['--code <code>', 'with an error of this code'],
    ['--worker <id>', 'that this worker ran last'], ['--text <text>', 'with this in arguments or error'],
    ['--session <id>', 'of this session'], ['--request <id>', 'made by this request'], ['--tenant <name>', 'of this tenant'],
    ['--from <time>', 'created then or later (2026-01-31T12:00:00Z)'],
    ['--to <time>', 'created then or earlier'], ['--limit <n>', '1 to 200 (default: 50)'], ['--order <order>', 'newest or oldest first (default: newest)'],
    cursorOption, jsonOption
  ],
  run: withClient(async (client, { options }) => {
    const [wanted, limit] = [textOption(options, 'status'), textOption(options, 'limit')]
    const status = jobStates.find(state => state === wanted)
    if (status !== wanted) throw misuse(`--status must be one of ${jobStates.join(', ')}, not '${wanted}'`)
    if (limit !== undefined && !/^\d+$/.test(limit)) throw misuse(`--limit must be a number from 1 to 200, not '${limit}'`)
    const order = jobOrders.find(order => order === textOption(options, 'order'))
    if (order !== textOption(options, 'order')) throw misuse(`--order must be ${jobOrders.join(' or ')}, not '${textOption(options, 'order')}'`)
    const page = await client.jobs.list({
      ...filtersOf(options), status, order, limit: limit === undefined ? undefined : Number(limit)
    })
    if (options['json'] === true) print(prettyJson(page))
    else print([...page.jobs.map(row), ...nextPage('toolyard jobs list', options, page.next_cursor), ...page.jobs.length === 0 ? ['No jobs'] : []].join('\n'))
  })
}

const submit: Command = {
  name: 'submit',
  summary: 'Submit a job and print its id',
  help: `Submits one job and doesn't wait for it. The type is the name of a tool, or a job type.

  toolyard jobs submit data_file_read --input '{"path": "README.md"}'`,
  arguments: ['<type>'],
  options: [
    ['--input <json>', 'its arguments, as a JSON object; - reads them from stdin (default: {})'], ['--queue <name>', 'run it in this queue'],
    ['--session <id>', 'run it in this session, whose files are its workspace'], jsonOption
  ],
  run: withClient(async (client, { args: [type = ''], options }) => {
    const text = textOption(options, 'input') ?? '{}'
    const input = readObject(text === '-' ? readFileSync(0, 'utf8') : text, '--input')
    const job = await client.jobs.submit({ type, input, queue: textOption(options, 'queue') ?? null, session: textOption(options, 'session') ?? null })
    print(options['json'] === true ? prettyJson(around({ ok: true, job })) : job.id)
  })
}

const show: Command = {
  name: 'show',
  summary: 'Show a job with its input and result',
  help: 'Prints a job as JSON, with its input and its whole result or error.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''] }) => {
    print(prettyJson(await client.jobs.get(id)))
  })
}

const logs: Command = {
  name: 'logs',
  summary: "Print a job's log, or follow it with -f",
  help: `Prints the last lines of a job's log. With -f it follows the job to its end, over restarts of the service; the exit status is 1 then
when the job failed or was cancelled.`,
  arguments: ['<id>'],
  options: [['-f, --follow', 'follow the job to its end'], ['--tail <n>', 'so many lines (default: 200)'], ['--json', 'print each line as JSON']],
  run: withClient(async (client, { args: [id = ''], options }) => {
    const { follow, json, tail } = options as { follow?: boolean, json?: boolean, tail?: string }
    if (tail !== undefined && !/^\d+$/.test(tail)) throw misuse(`--tail must be a number, not '${tail}'`)
    const show = (entry: LogEntry): void => { print(json === true ? writeJson(entry) : `${entry.ts} ${entry.level} ${entry.message}`) }
    if (follow !== true) {
      for (const entry of await client.jobs.logs(id, tail === undefined ? {} : { tail: Number(tail) })) show(entry)
      return exitStatus.done
    }
    let end: JobView | undefined
    for await (const event of client.follow(id)) {
      if (event.type === 'log') show(event.entry)
      if (event.type === 'end') end = event.job
    }
    print(json === true ? writeJson(around({ status: end?.status, result: end?.result, error: end?.error })) : `${end?.status ?? 'gone'}${end?.error == null ? '' : ` ${end.error.code}: ${end.error.message}`}`)
    return end?.status === 'succeeded' ? exitStatus.done : exitStatus.failed
  }, followRetryMs)
}

const cancel: Command = {
  name: 'cancel',
  summary: 'Cancel a job',
  help: 'Cancels a job that waits or runs: its processes are gone within a second.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''], options }) => {
    const job = await client.cancel(id)
    print(options['json'] === true ? prettyJson(around({ ok: true, job })) : row(job))
  })
}

const retry: Command = {
  name: 'retry',
  summary: 'Submit a job that has ended again, as a new one',
  help: 'Submits a job with the type, input and limits of one that has ended. The tool may have done its work in part: this is your decision.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''], options }) => {
    const { type, input, queue, session = null, priority, timeout_sec: timeoutSec, max_attempts: maxAttempts, tags, status } = (
      await client.jobs.get(id)
    )
    if (status === 'queued' || status === 'held' || status === 'input_required' || status === 'running') throw misuse(`job ${id} is ${status}: it can be run again when it has ended`)
    const job = await client.jobs.submit({
      type, input: isRecord(input) ? input : {}, queue, session, priority, timeout_sec: timeoutSec, max_attempts: maxAttempts, tags
    })
    print(options['json'] === true ? prettyJson(around({ ok: true, job })) : row(job))
  })
}

const answer: Command = {
  name: 'answer',
  summary: 'Answer what the tool of a job asks',
  help: `Answers what the tool of a job with the status input_required asks; toolyard jobs show prints the question and its schema.

  toolyard jobs answer ID '{"seat": "aisle"}'`,
  arguments: ['<id>', '<json>'],
  options: [['--number <n>', 'the number of the question (default: the one that is asked now)'], jsonOption],
  run: withClient(async (client, { args: [id = '', json = ''], options }) => {
    const number = textOption(options, 'number')
    if (number !== undefined && !/^[1-9]\d?$/.test(number)) throw misuse(`--number must be that of a question, not '${number}'`)
    const job = await client.jobs.answer(id, readObject(json, 'the answer'), { number: number === undefined ? undefined : Number(number) })
    print(options['json'] === true ? writeJson(around({ ok: true, job })) : row(job))
  })
}

const promote: Command = {
  name: 'promote',
  summary: 'Let a job run now that waits for its time',
  help: 'Ends the wait of a job that was submitted with a delay, or that waits for its next attempt.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''], options }) => {
    const job = await client.jobs.promote(id)
    print(options['json'] === true ? writeJson(around({ ok: true, job })) : row(job))
  })
}

const remove: Command = {
  name: 'remove',
  summary: 'Remove a job that has ended',
  help: 'Removes a job that has ended, with its output and its log. Files of its session stay.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: withClient(async (client, { args: [id = ''], options }) => {
    await client.jobs.remove(id)
    print(options['json'] === true ? JSON.stringify({ ok: true, id }, null, 2) : `removed ${id}`)
  })
}

export const jobs: Command = {
  name: 'jobs',
  summary: 'Submit, list, show, follow, cancel, answer, retry, promote and remove jobs',
  help: 'The jobs of the service at TOOLYARD_URL, else of the one of the settings.',
  commands: [submit, list, show, logs, cancel, answer, retry, promote, remove]
}

const filters = ['queue', 'type', 'tag', 'tool', 'key', 'code', 'worker', 'text', 'session', 'request', 'tenant', 'from', 'to', 'cursor'] as const

function filtersOf (options: CommandLine['options']): Partial<Record<typeof filters[number], string>> {
  return Object.fromEntries(filters.flatMap(name => typeof options[name] === 'string' ? [[name, options[name]]] : []))
}

function row ({ id, status, tool, queue, created_at: created, error }: JobSummary): string {
  return `${id}  ${status.padEnd(9)}  ${created}  ${tool}  ${queue}${error === null ? '' : `  ${error.code}`}`
}
