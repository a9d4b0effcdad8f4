import type { WorkerView } from '@toolyard/contract'
import { hrefOf } from '../parts/route.ts'
import { counted } from '../parts/times.ts'
import type { Attention, Situation } from './situation.ts'

type Named = Pick<WorkerView, 'id' | 'host'>

interface WorkerFault extends Pick<Attention, 'severity' | 'advice'> {
  /** Of one worker, and of several. */
  says: [one: string, many: string]
  /** It is the same for all workers of the machine, whatever each has measured. */
  isOfMachine?: boolean
}

/** More workers of one machine than these are counted, and not named. */
const mostNamed = 3
/** A machine with so many processes for each processor has too much to do. */
const overload = 2

export function lostWorkers ({ lostWorkers: lost = [], workers = [] }: Situation): Attention[] {
  const [last, ...more] = lost
  if (last === undefined) return []
  const name = nameOf(last, [...workers, ...lost])
  return [{
    severity: 'warn',
    text: more.length === 0 ? `Worker ${name} went away.` : `${counted(more.length + 1, 'worker')} went away, the last of them ${name}.`,
    advice: 'It died, or lost Redis, in the last 15 min. If it was not started again, start it; its log, or that of its machine, says why it ended.',
    href: more.length === 0 ? hrefOf(['workers', last.id]) : hrefOf(['workers'])
  }]
}

/** Workers of one machine that say the same have one line, which names them where the machine has others, too. */
export function workerFaults ({ workers = [] }: Situation): Attention[] {
  const groups = new Map<string, { fault: WorkerFault, told: WorkerView[] }>()
  for (const worker of workers) {
    for (const fault of faultsOf(worker)) {
      const same = JSON.stringify([worker.host ?? worker.id, fault.says, fault.isOfMachine === true ? '' : fault.advice])
      const group = groups.get(same)
      if (group === undefined) groups.set(same, { fault, told: [worker] })
      else group.told.push(worker)
    }
  }
  return [...groups.values()].map(({ fault: { severity, says, advice }, told }) => ({
    severity, text: `${namesOf(told, workers)} ${says[told.length === 1 ? 0 : 1]}`, advice, href: told.length === 1 ? hrefOf(['workers', told[0]?.id ?? '']) : hrefOf(['workers'])
  }))
}

function namesOf (told: readonly WorkerView[], all: readonly WorkerView[]): string {
  if (told.length > mostNamed) return `${counted(told.length, 'worker')} of ${told[0]?.host ?? ''}`
  return `${told.length === 1 ? 'Worker' : 'Workers'} ${told.map(worker => nameOf(worker, all)).join(', ')}`
}

/** The machine of a worker, and the beginning of its id where the machine has several. */
function nameOf ({ id, host }: Named, all: readonly Named[]): string {
  if (host === null) return id
  return all.some(each => each.host === host && each.id !== id) ? `${host} ${id.slice(0, 8)}` : host
}

function faultsOf ({ sandbox, load, shortage, state, places }: WorkerView): WorkerFault[] {
  const found: WorkerFault[] = []
  if (state === 'drained') found.push({ severity: 'warn', says: ['is drained.', 'are drained.'], advice: 'It runs nothing and takes no jobs: stop it, or resume it.' })
  if (state === 'draining') {
    found.push({ severity: 'warn', says: ['is being drained.', 'are being drained.'], advice: `It takes no more jobs, and ends what it runs: ${counted(places?.used ?? 0, 'call')}.` })
  }
  if (typeof shortage === 'string') {
    found.push({
      severity: 'bad',
      says: [`takes no jobs: it can't start processes (${shortage}).`, `take no jobs: they can't start processes (${shortage}).`],
      advice: 'See to room in its TMPDIR, to its descriptors, processes and memory. It goes on by itself.'
    })
  }
  if (sandbox.level !== 'full') {
    const missing = sandbox.missing.length === 0 ? '' : ` Without: ${sandbox.missing.join(', ')}.`
    const says: WorkerFault['says'] = sandbox.level === 'none' ? ['runs tools without a sandbox.', 'run tools without a sandbox.'] : ['has a partial sandbox.', 'have a partial sandbox.']
    found.push({ severity: 'warn', says, advice: `\`toolyard doctor\` there says what is missing.${missing}` })
  }
  if (load !== null && load.average > overload * load.processors) {
    found.push({
      severity: 'warn',
      says: ['has too much to do.', 'have too much to do.'],
      isOfMachine: true,
      advice: `${load.average.toFixed(1)} processes want ${counted(load.processors, 'processor')}: see what else runs there, lower WORKER_CONCURRENCY, or add machines.`
    })
  }
  return found
}
