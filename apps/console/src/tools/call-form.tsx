import type { JobView } from '@toolyard/client'
import { readJson, writeThrough } from '@toolyard/contract/terms'
import type { ToolView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { CallResult } from '../jobs/call-result.tsx'
import { Problem } from '../parts/notice.tsx'
import { faultsOf, Field } from '../form/form-field.tsx'
import { argumentsOf, fieldsOf, initialsOf, textsOf } from '../form/form-fields.ts'

export function CallForm ({ tool, like }: { tool: ToolView, /** A call whose arguments it begins with. */ like?: Pick<JobView, 'input' | 'session'> | undefined }): VNode {
  const { api } = useAccess()
  const fields = fieldsOf(tool.parameters)
  const [texts, setTexts] = useState(() => like === undefined ? initialsOf(fields ?? []) : textsOf(fields ?? [], like.input))
  const [whole, setWhole] = useState(() => like === undefined ? '{}' : writeThrough(like.input))
  const [session, setSession] = useState(like?.session ?? '')
  const [called, setCalled] = useState<string>()
  const [error, setError] = useState<Error>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [isBusy, setBusy] = useState(false)

  const enter = (path: string, text: string): void => { setTexts(known => ({ ...known, [path]: text })) }

  async function call (event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      const input: unknown = fields === undefined ? readJson(whole) : argumentsOf(fields, texts)
      setCalled((await api.ask<{ job: JobView }>('/v1/jobs', { method: 'POST', body: { type: tool.type, input, ...(session.trim() === '' ? {} : { session: session.trim() }) } })).job.id)
      setError(undefined)
      setFaults(new Map())
    } catch (caught) {
      const found = faultsOf(fields ?? [], caught)
      setFaults(found)
      setError(found.size > 0 ? undefined : asError(caught))
      const [first] = found.keys()
      // The first of them, once it is drawn.
      if (first !== undefined) requestAnimationFrame(() => { document.getElementById(`arg-${first}`)?.focus() })
    }
    setBusy(false)
  }

  return (
    <section class='card'>
      <h2>Call it</h2>
      <form class='call' noValidate onSubmit={event => { void call(event) }}>
        {fields?.length === 0 && <p class='soft'>It takes no arguments.</p>}
        {fields?.map(field => <Field key={field.name} field={field} texts={texts} faults={faults} onText={enter} />)}
        {fields === undefined && (
          <div class='field'>
            <label for='arg-whole'>Arguments</label>
            <textarea id='arg-whole' rows={5} spellcheck={false} value={whole} onInput={event => { setWhole(event.currentTarget.value) }} />
          </div>
        )}
        <div class='field'>
          <label for='call-session'>Session</label>
          <input id='call-session' type='text' spellcheck={false} autocomplete='off' placeholder='none: the shared workspace' aria-describedby='call-session-about' value={session} onInput={event => { setSession(event.currentTarget.value) }} />
          <p id='call-session-about' class='soft small'>The id of a session whose files the call works in.</p>
        </div>
        <Problem error={error} />
        <div class='actions'><button class='primary' disabled={isBusy}>Call</button></div>
      </form>
      {called !== undefined && <CallResult key={called} id={called} />}
    </section>
  )
}
