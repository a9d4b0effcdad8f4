import type { AskedQuestion, JobView } from '@toolyard/client'
import { prettyJson, readJson } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { faultsOf, Field } from '../form/form-field.tsx'
import { argumentsOf, fieldsOf, initialsOf } from '../form/form-fields.ts'
import { Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { exact } from '../parts/time.tsx'
import { plainAnswers, Prompt } from './prompt.tsx'

/** What a job waits for a person to do. */
export function Awaited ({ job: { id, status, question } }: { job: JobView }): VNode | null {
  if (question !== undefined) return <Questions id={id} question={question} />
  if (status !== 'held') return null
  return <p class='awaited'>The call has not run: it waits until somebody approves it. <a href={hrefOf(['approvals', id])}>Look at it, and decide</a></p>
}

/** All that a tool asks at once. */
function Questions ({ id, question }: { id: string, question: NonNullable<JobView['question']> }): VNode {
  return (
    <div class='questions'>
      {[question, ...question.more ?? []].map(each =>
        <QuestionForm key={each.number} id={id} question={each} until={question.expires_at} />)}
    </div>
  )
}

function QuestionForm ({ id, question, until }: { id: string, question: AskedQuestion, until: string }): VNode {
  const { api, person } = useAccess()
  const { kind, number } = question
  const plain = kind === 'form' ? undefined : plainAnswers[kind]
  const fields = plain === undefined ? fieldsOf(question.schema) : undefined
  const [texts, setTexts] = useState(() => initialsOf(fields ?? []))
  const [isJson, setJson] = useState(plain === undefined)
  const [whole, setWhole] = useState(plain === undefined ? '{}' : '')
  const [error, setError] = useState<Error>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [isBusy, setBusy] = useState(false)

  const enter = (path: string, text: string): void => { setTexts(known => ({ ...known, [path]: text })) }

  function turnToJson (): void {
    setJson(true)
    if (plain !== undefined) setWhole(prettyJson(plain.answer(whole)))
  }

  async function answer (event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      const written: unknown = plain === undefined || isJson ? readJson(whole) : plain.answer(whole)
      const given = fields === undefined ? written : argumentsOf(fields, texts)
      await api.ask(`/v1/jobs/${id}/answer`, { method: 'POST', body: { answer: given, number } })
    } catch (caught) {
      const found = faultsOf(fields ?? [], caught)
      setFaults(found)
      setError(found.size > 0 ? undefined : asError(caught))
    }
    setBusy(false)
  }

  return (
    <section class='card' aria-label={`What the tool asks (${number})`}>
      <h2>The tool asks{kind === 'sampling' ? ' a model' : ''}</h2>
      <p>{question.text}</p>
      {kind === 'sampling' && <Prompt params={question.params} />}
      <p class='soft small'>Until {exact(Date.parse(until))}. The tool runs again from its start with the answer.</p>
      {person.can_write && (
        <form class='call' noValidate onSubmit={event => { void answer(event) }}>
          {fields?.map(field => (
            <Field key={field.name} field={field} scope={`${number}-`} texts={texts} faults={faults} onText={enter} />
          ))}
          {fields === undefined && (
            <div class='field'>
              <label for={`answer-${number}`}>{plain === undefined ? 'Answer' : isJson ? 'Answer, as JSON' : plain.label}</label>
              <textarea id={`answer-${number}`} rows={isJson && plain !== undefined ? 10 : 3} spellcheck={false} value={whole} onInput={event => { setWhole(event.currentTarget.value) }} />
            </div>
          )}
          <Problem error={error} />
          <div class='actions'>
            <button class='primary' disabled={isBusy}>Answer</button>
            {!isJson && <button type='button' onClick={turnToJson}>Write it as JSON</button>}
          </div>
        </form>
      )}
    </section>
  )
}
