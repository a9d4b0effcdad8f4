import type { JobView } from '@toolyard/client'
import { readJson } from '@toolyard/contract/terms'
import type { ToolView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../access/api.ts'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { CallResult } from '../jobs/call-result.tsx'
import { Problem } from '../parts/notice.tsx'
import { argumentsOf, fieldAt, FieldFaults, fieldsOf, initialsOf, shownChoice, type FormField } from './form-fields.ts'

/** A form for a tool's arguments, and what comes of the call. */
export function CallForm ({ tool }: { tool: ToolView }): VNode {
  const { api } = useAccess()
  const fields = fieldsOf(tool.parameters)
  const [texts, setTexts] = useState(() => initialsOf(fields ?? []))
  const [whole, setWhole] = useState('{}')
  const [session, setSession] = useState('')
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

interface FieldProps {
  field: FormField
  texts: Readonly<Record<string, string>>
  /** What is wrong with them, by the paths of their fields. */
  faults: ReadonlyMap<string, string>
  onText: (path: string, text: string) => void
}

/** What the form or the service says of fields. */
function faultsOf (fields: readonly FormField[], error: unknown): ReadonlyMap<string, string> {
  if (error instanceof FieldFaults) return error.faults
  const { issues } = (error instanceof ApiError ? error.details ?? {} : {}) as { issues?: Array<{ path: string, message: string }> }
  return new Map((Array.isArray(issues) ? issues : []).flatMap(({ path, message }): Array<[string, string]> => {
    const field = fieldAt(fields, path)
    return field === undefined ? [] : [[field, `${message}.`]]
  }))
}

function Field ({ field, texts, faults, onText }: FieldProps): VNode {
  const { kind, name, path, description, isRequired, fields } = field
  const id = `arg-${path}`
  const fault = faults.get(path)
  const required = isRequired ? <span class='soft small'> required</span> : null
  if (kind === 'group') {
    return (
      <fieldset class='group'>
        <legend>{name}{required}</legend>
        {description !== '' && <p class='soft small'>{description}</p>}
        {fields.map(each => <Field key={each.name} field={each} texts={texts} faults={faults} onText={onText} />)}
      </fieldset>
    )
  }
  return (
    <div class='field'>
      <label for={id}>{name}{required}</label>
      <Control id={id} field={field} text={texts[path] ?? ''} fault={fault} onText={text => { onText(path, text) }} />
      {fault !== undefined && <p id={`${id}-fault`} class='problem small' role='alert'>{fault}</p>}
      {aboutOf(field) !== '' && <p id={`${id}-about`} class='soft small'>{aboutOf(field)}</p>}
    </div>
  )
}

function aboutOf ({ kind, description, fields: [entry] }: FormField): string {
  if (kind !== 'list') return description
  const choices = entry === undefined || entry.choices.length === 0 ? '' : `, of ${entry.choices.map(shownChoice).join(', ')}`
  return `${description === '' ? '' : `${description} `}One on each line${choices}.`
}

interface ControlProps {
  id: string
  field: FormField
  text: string
  fault: string | undefined
  onText: (text: string) => void
}

function Control ({ id, field, text, fault, onText }: ControlProps): VNode {
  const { kind, isRequired, choices } = field
  const texts = [fault === undefined ? '' : `${id}-fault`, aboutOf(field) === '' ? '' : `${id}-about`].filter(name => name !== '')
  const about = { 'aria-describedby': texts.length === 0 ? undefined : texts.join(' '), 'aria-invalid': fault !== undefined, 'aria-required': isRequired }
  const options = kind === 'boolean' ? ['true', 'false'] : choices
  if (options.length > 0) {
    return (
      <select id={id} value={text} {...about} onChange={event => { onText(event.currentTarget.value) }}>
        <option value=''>{isRequired ? 'choose' : 'not given'}</option>
        {options.map(option => <option key={option} value={option}>{shownChoice(option)}</option>)}
      </select>
    )
  }
  if (kind === 'json' || kind === 'list') {
    return <textarea id={id} rows={2} spellcheck={false} placeholder={kind === 'json' ? 'JSON' : undefined} {...about} value={text} onInput={event => { onText(event.currentTarget.value) }} />
  }
  return (
    <input
      id={id} type='text' inputMode={kind === 'number' ? 'decimal' : 'text'} spellcheck={false} autocomplete='off'
      {...about} value={text} onInput={event => { onText(event.currentTarget.value) }}
    />
  )
}
