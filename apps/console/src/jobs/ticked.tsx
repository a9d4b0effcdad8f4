import type { JobView } from '@toolyard/client'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Problem } from '../parts/notice.tsx'
import { runAgain } from '../again/run-again.ts'

type Action = 'cancel' | 'remove' | 'again'

const actions: ReadonlyArray<readonly [Action, label: string, about: string]> = [
  ['cancel', 'Cancel', 'Each that waits or runs is cancelled, and stays so. The others stay as they are.'],
  ['again', 'Run again', 'Each is submitted once more, as a new job with the same arguments, and with the rights and the secrets of your key, whoever submitted it before.'],
  ['remove', 'Remove', 'Each that has ended is removed, with its output and its log. The others stay.']
]

export function Ticked ({ ids, onDone }: { ids: ReadonlySet<string>, onDone: () => void }): VNode | null {
  const { api } = useAccess()
  const [asked, setAsked] = useState<Action>()
  const [error, setError] = useState<Error>()
  if (ids.size === 0 && error === undefined) return null
  const one = async (action: Action, id: string): Promise<void> => {
    if (action === 'cancel') await api.ask(`/v1/jobs/${id}/cancel`, { method: 'POST' })
    else if (action === 'remove') await api.ask(`/v1/jobs/${id}`, { method: 'DELETE' })
    else await runAgain(api, (await api.ask<{ job: JobView }>(`/v1/jobs/${id}`)).job)
  }
  async function all (action: Action): Promise<void> {
    const failed: Error[] = []
    for (const id of ids) await one(action, id).catch((caught: unknown) => { failed.push(asError(caught)) })
    const [first] = failed
    setError(first === undefined ? undefined : new Error(`${ids.size - failed.length} of ${ids.size} done. ${first.message}`))
    onDone()
  }
  const wanted = actions.find(([action]) => action === asked)
  return (
    <>
      <div class='bulk-bar' role='group' aria-label='Ticked jobs'>
        <p class='small' aria-live='polite'>{ids.size} ticked</p>
        <div class='actions'>
          {actions.map(([action, label]) => <button key={action} type='button' class='small-button' disabled={ids.size === 0} onClick={() => { setAsked(action) }}>{label} {ids.size}</button>)}
          <button type='button' class='small-button' onClick={() => { setError(undefined); onDone() }}>Untick all</button>
        </div>
      </div>
      <Problem error={error} />
      {wanted !== undefined && (
        <Confirm title={`${wanted[1]} ${ids.size} ${ids.size === 1 ? 'job' : 'jobs'}?`} action={wanted[1]} onConfirm={() => { void all(wanted[0]) }} onClose={() => { setAsked(undefined) }}>
          <p>{wanted[2]}</p>
        </Confirm>
      )}
    </>
  )
}
