import type { JobView } from '@toolyard/client'
import { readJson } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { faultsOf, Field } from '../form/form-field.tsx'
import { argumentsOf, fieldsOf, initialsOf } from '../form/form-fields.ts'
import { Problem } from '../parts/notice.tsx'
import { exact } from '../parts/time.tsx'

type Question = NonNullable<JobView['question']>

export function QuestionForm ({ id, question }: { id: string, question: Question }): VNode {
  const { api, person } = useAccess()
  const fields = fieldsOf(question.schema)
  const [texts, setTexts] = useState(() => initialsOf(fields ?? []))
  const [whole, setWhole] = useState('{}')
  const [error, setError] = useState<Error>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [isBusy, setBusy] = useState(false)

  const enter = (path: string, text: string): void => { setTexts(known => ({ ...known, [path]: text })) }

  async function answer (event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      const given: unknown = fields === undefined ? readJson(whole) : argumentsOf(fields, texts)
      await api.ask(`/v1/jobs/${id}/answer`, { method: 'POST', body: { answer: given, number: question.number } })
    } catch (caught) {
      const found = faultsOf(fields ?? [], caught)
      setFaults(found)
      setError(found.size > 0 ? undefined : asError(caught))
    }
    setBusy(false)
  }

  return (
    <section class='card' aria-label='What the tool asks'>
      <h2>The tool asks</h2>
      <p>{question.text}</p>
      <p class='soft small'>Until {exact(Date.parse(question.expires_at))}. The tool runs again from its start with the answer.</p>
      {person.can_write && (
        <form class='call' noValidate onSubmit={event => { void answer(event) }}>
          {fields?.map(field => (
            <Field key={field.name} field={field} texts={texts} faults={faults} onText={enter} />
          ))}
          {fields === undefined && (
            <div class='field'>
              <label for='answer-whole'>Answer</label>
              <textarea id='answer-whole' rows={3} spellcheck={false} value={whole} onInput={event => { setWhole(event.currentTarget.value) }} />
            </div>
          )}
          <Problem error={error} />
          <div class='actions'><button class='primary' disabled={isBusy}>Answer</button></div>
        </form>
      )}
    </section>
  )
}
