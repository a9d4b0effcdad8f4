import type { JobView } from '@toolyard/client'
import type { ToolView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { CallResult } from '../jobs/call-result.tsx'
import { Problem } from '../parts/notice.tsx'
import { argumentsOf, fieldsOf, type FormField } from './form-fields.ts'

/** A form for a tool's arguments, and what comes of the call. */
export function CallForm ({ tool }: { tool: ToolView }): VNode {
  const { api } = useAccess()
  const fields = fieldsOf(tool.parameters)
  const initials = (fields ?? []).map(({ name, initial }): [string, string] => [name, initial])
  const [texts, setTexts] = useState<Record<string, string>>(() => Object.fromEntries<string>(initials))
  const [whole, setWhole] = useState('{}')
  const [session, setSession] = useState('')
  const [called, setCalled] = useState<string>()
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)

  async function call (event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      const input: unknown = fields === undefined ? JSON.parse(whole) : argumentsOf(fields, texts)
      setCalled((await api.ask<{ job: JobView }>('/v1/jobs', { method: 'POST', body: { type: tool.type, input, ...(session.trim() === '' ? {} : { session: session.trim() }) } })).job.id)
      setError(undefined)
    } catch (caught) {
      setError(asError(caught))
    }
    setBusy(false)
  }

  return (
    <section class='card'>
      <h2>Call it</h2>
      <form class='call' onSubmit={event => { void call(event) }}>
        {fields?.length === 0 && <p class='soft'>It takes no arguments.</p>}
        {fields?.map(field => <Field key={field.name} field={field} text={texts[field.name] ?? ''} onText={text => { setTexts({ ...texts, [field.name]: text }) }} />)}
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

interface FieldProps {
  field: FormField
  text: string
  onText: (text: string) => void
}

function Field ({ field, text, onText }: FieldProps): VNode {
  const id = `arg-${field.name}`
  return (
    <div class='field'>
      <label for={id}>{field.name}{field.isRequired && <span class='soft small'> required</span>}</label>
      <Control id={id} field={field} text={text} onText={onText} />
      {field.description !== '' && <p id={`${id}-about`} class='soft small'>{field.description}</p>}
    </div>
  )
}

function Control ({ id, field: { kind, isRequired, choices, description }, text, onText }: FieldProps & { id: string }): VNode {
  const about = description === '' ? undefined : `${id}-about`
  const options = kind === 'boolean' ? ['true', 'false'] : choices
  if (options.length > 0) {
    return (
      <select id={id} value={text} required={isRequired} aria-describedby={about} onChange={event => { onText(event.currentTarget.value) }}>
        <option value='' />
        {options.map(option => <option key={option} value={option}>{option.replace(/^"(.*)"$/s, '$1')}</option>)}
      </select>
    )
  }
  if (kind === 'json') {
    return <textarea id={id} rows={2} spellcheck={false} placeholder='JSON' required={isRequired} aria-describedby={about} value={text} onInput={event => { onText(event.currentTarget.value) }} />
  }
  return (
    <input
      id={id} type='text' inputMode={kind === 'number' ? 'decimal' : 'text'} spellcheck={false} autocomplete='off' required={isRequired && kind === 'number'}
      aria-describedby={about} value={text} onInput={event => { onText(event.currentTarget.value) }}
    />
  )
}
