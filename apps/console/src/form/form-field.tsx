import type { VNode } from 'preact'
import { ApiError } from '../access/api.ts'
import { fieldAt, FieldFaults, shownChoice, type FormField } from './form-fields.ts'

interface FieldProps {
  field: FormField
  /** Tells the ids of one form from those of another on the page. */
  scope?: string
  texts: Readonly<Record<string, string>>
  /** By the paths of the fields. */
  faults: ReadonlyMap<string, string>
  onText: (path: string, text: string) => void
}

export function faultsOf (fields: readonly FormField[], error: unknown): ReadonlyMap<string, string> {
  if (error instanceof FieldFaults) return error.faults
  const { issues } = (error instanceof ApiError ? error.details ?? {} : {}) as { issues?: Array<{ path: string, message: string }> }
  return new Map((Array.isArray(issues) ? issues : []).flatMap(({ path, message }): Array<[string, string]> => {
    const field = fieldAt(fields, path)
    return field === undefined ? [] : [[field, `${message}.`]]
  }))
}

export function Field ({ field, scope = '', texts, faults, onText }: FieldProps): VNode {
  const { kind, name, path, description, isRequired, fields } = field
  const id = `arg-${scope}${path}`
  const fault = faults.get(path)
  const required = isRequired ? <span class='soft small'> required</span> : null
  if (kind === 'group') {
    return (
      <fieldset class='group'>
        <legend>{name}{required}</legend>
        {description !== '' && <p class='soft small'>{description}</p>}
        {fields.map(each => <Field key={each.name} field={each} scope={scope} texts={texts} faults={faults} onText={onText} />)}
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
