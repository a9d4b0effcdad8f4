import { setTimeout as sleep } from 'node:timers/promises'
import { pathSegment } from '@toolyard/client'
import { isRecord } from '@toolyard/contract/terms'
import { askService, strangeAnswer } from '../ask-service.ts'
import { asking, type Target } from '../target.ts'
import { jsonOption, type Command } from '../../terminal/command.ts'
import { CommandError, exitStatus, misuse } from '../../terminal/exit-status.ts'
import { complain, print } from '../../terminal/terminal.ts'

const timeoutMs = 15_000
/** How often a worker that is drained is looked at. */
const everyMs = 500
/** `list` shows so much of an id, as the console does; it is enough to name a worker. */
const shownIdChars = 8

interface Worker {
  id: string
  host: string | null
  state: string
  queues: readonly string[]
  places: { used: number, total: number } | null
  ran: number | null
}

const list: Command = {
  name: 'list',
  summary: 'List the workers that are alive',
  help: 'Lists the workers: whether each takes jobs, its machine, the calls that it runs of those that it can run at once, and its queues.',
  options: [jsonOption],
  run: asking(async (target, { options }) => {
    const { answer, workers } = await read(target)
    if (options['json'] === true) print(JSON.stringify(answer, null, 2))
    else print(workers.length === 0 ? 'No worker is alive: jobs wait' : workers.map(row).join('\n'))
  })
}

const drain: Command = {
  name: 'drain',
  summary: 'Let a worker take no more jobs',
  help: `The worker takes no more jobs, and ends the calls that it runs. Then it is drained, and can be stopped without losing one. The
id may be cut short, as long as only one worker has it.

  toolyard workers drain 6beb8c70 --wait`,
  arguments: ['<id>'],
  options: [['--wait', 'wait until it runs nothing'], jsonOption],
  run: asking(async (target, { args: [id = ''], options }) => {
    let worker = await change(target, id, true)
    for (const whole = worker.id; options['wait'] === true && worker.state === 'draining';) {
      await sleep(everyMs)
      const found = (await read(target)).workers.find(each => each.id === whole)
      if (found === undefined) throw new CommandError(`worker ${whole} went away before it was drained`)
      worker = found
    }
    tell(worker, options['json'] === true)
    if (worker.state === 'draining') complain(`It ends its calls. toolyard workers drain ${shownId(worker)} --wait waits for that`)
  })
}

const resume: Command = {
  name: 'resume',
  summary: 'Let a drained worker take jobs again',
  help: 'Ends what drain began. The id may be cut short, as long as only one worker has it.',
  arguments: ['<id>'],
  options: [jsonOption],
  run: asking(async (target, { args: [id = ''], options }) => {
    tell(await change(target, id, false), options['json'] === true)
  })
}

/** `toolyard workers`: the processes that run calls. */
export const workers: Command = {
  name: 'workers',
  summary: 'List, drain and resume workers',
  help: `The workers of the service at TOOLYARD_URL, else of the one of the settings. It needs a key without a tenant; to drain and to
resume, an admin's that is bound to no queues.`,
  commands: [list, drain, resume]
}

async function change (target: Target, id: string, drained: boolean): Promise<Worker> {
  const { id: whole } = await find(target, id)
  const body = JSON.stringify({ drained })
  const answer = await askService(target, { method: 'PATCH', path: `/v1/workers/${pathSegment(whole)}`, body, signal: AbortSignal.timeout(timeoutMs) })
  const { worker } = answer
  if (!isWorker(worker)) throw strangeAnswer(target, answer)
  return worker
}

async function find (target: Target, id: string): Promise<Worker> {
  if (id === '') throw misuse('the id of the worker is empty')
  const { workers } = await read(target)
  const [found, ...more] = workers.filter(worker => worker.id === id || worker.id.startsWith(id))
  if (found === undefined) throw new CommandError(`no living worker has the id '${id}'. toolyard workers list shows them`, { status: exitStatus.refused, code: 'NOT_FOUND' })
  if (more.length > 0) throw misuse(`${more.length + 1} workers have an id that begins with '${id}': write more of it`)
  return found
}

async function read (target: Target): Promise<{ answer: Record<string, unknown>, workers: Worker[] }> {
  const answer = await askService(target, { method: 'GET', path: '/v1/workers', signal: AbortSignal.timeout(timeoutMs) })
  const { workers } = answer
  if (!Array.isArray(workers) || !workers.every(isWorker)) throw strangeAnswer(target, answer)
  return { answer, workers }
}

function isWorker (value: unknown): value is Worker {
  return isRecord(value) && ['id', 'state'].every(field => typeof value[field] === 'string') && Array.isArray(value['queues'])
}

function tell (worker: Worker, asData: boolean): void {
  print(asData ? JSON.stringify({ ok: true, worker }, null, 2) : row(worker))
}

function row (worker: Worker): string {
  const { host, state, queues, places, ran } = worker
  const runs = places === null ? '' : `  runs ${places.used} of ${places.total}`
  return `${shownId(worker)}  ${state.padEnd('draining'.length)}  ${host ?? '(unknown machine)'}${runs}${ran === null ? '' : `  has run ${ran}`}  ${queues.includes('*') ? 'all queues' : queues.join(', ')}`
}

function shownId ({ id }: Worker): string {
  return id.slice(0, shownIdChars)
}
