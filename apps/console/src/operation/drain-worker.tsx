import { pathSegment } from '@toolyard/client'
import type { WorkerView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'

interface Draining {
  /** Asks before it drains a worker, and resumes a drained one at once; undefined for a key that may not. */
  handleDrain: ((worker: WorkerView) => void) | undefined
  /** The dialog, while somebody is asked. */
  dialog: VNode | undefined
  problem: Error | undefined
}

/** Drains workers and resumes them; `all` are those that are alive. */
export function useDraining (all: readonly WorkerView[], onDone: () => void): Draining {
  const { api, person } = useAccess()
  const [asked, setAsked] = useState<WorkerView>()
  const [problem, setProblem] = useState<Error>()
  function drain ({ id }: WorkerView, drained: boolean): void {
    void api.ask(`/v1/workers/${pathSegment(id)}`, { method: 'PATCH', body: { drained } })
      .then(() => { setProblem(undefined); onDone() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  return {
    handleDrain: person.can_write ? worker => { if (worker.state === 'working') setAsked(worker); else drain(worker, false) } : undefined,
    problem,
    dialog: asked === undefined
      ? undefined
      : (
        <Confirm title={`Drain ${asked.host ?? asked.id}?`} action='Drain the worker' onConfirm={() => { drain(asked, true) }} onClose={() => { setAsked(undefined) }}>
          <p>
            Within two seconds it takes no more jobs. Calls that it runs go on to their end; then it is shown as drained, and can be
            stopped without losing any.
          </p>
          <p>It stays until it is stopped or resumed. One that is started in its place takes jobs.</p>
          {all.every(({ id, state }) => id === asked.id || state !== 'working') && <p><strong>No other worker takes jobs: they wait then.</strong></p>}
        </Confirm>
        )
  }
}
