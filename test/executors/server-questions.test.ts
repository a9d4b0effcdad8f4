import fc from 'fast-check'
import t from 'tap'
import { writeJson } from '@toolyard/contract/terms'
import { ServerQuestions } from '@toolyard/executors'

/* What MCP servers ask during a call, over all runs of its job, compared with a model. */

const textOf = (question: number): string => `Question ${question}?`
const form = (question: number): object => ({ message: textOf(question), requestedSchema: { type: 'object' } })
const method = 'elicitation/create'
/** A form, a message of a model, or the directories; what the client adds to a request differs each time. */
const requests = (question: number): { method: string, params: object } => [
  { method, params: form(question) },
  { method: 'sampling/createMessage', params: { messages: [], maxTokens: question, _meta: { progressToken: Math.random() } } },
  { method: 'roots/list', params: { _meta: { progressToken: Math.random() } } }
][question % 3] ?? { method, params: {} }
const kinds = ['form', 'sampling', 'roots']
/** An answer as its server hears it. */
const heard = (question: number, answer = ''): string => question % 3 === 0 ? `{"action":"accept","content":${answer}}` : answer
/** The JSON of an answer that is no other one, with a number that JavaScript would round. */
const answerAt = (place: number): string => `{"n":115292150460684${String(1_000 + place)},"rate":1.0}`

/** For the next run of a job. */
interface Known {
  answers: string[]
  memo?: string
}

type Asked = Exclude<ReturnType<ServerQuestions['asked']>, { answer: unknown }>

/** Somebody answers what a run has asked. Gives the answers. */
function answered (known: Known, asked: Asked): string[] {
  if (asked === undefined || typeof asked === 'string') throw new Error(`Nothing is asked: ${asked}`)
  const answers = asked.questions.map((_, at) => answerAt(known.answers.length + at))
  known.answers.push(...answers)
  known.memo = asked.memo
  return answers
}

function isAbout (asked: Asked, question: number): boolean {
  if (typeof asked === 'string') return false
  const [{ kind, text, params } = { kind: '' }] = asked.questions
  if (kind !== kinds[question % 3]) return false
  return kind === 'form' ? text === textOf(question) : kind === 'roots' || writeJson(params) === `{"messages":[],"maxTokens":${question}}`
}

function ask (questions: ServerQuestions, question: number): ReturnType<ServerQuestions['asked']> {
  const { method, params } = requests(question)
  return questions.asked(method, params)
}

t.test('a server of 2025 that asks the same in each run gets all answers, and each of its questions is asked once', async t => {
  fc.assert(fc.property(fc.array(fc.nat(3), { maxLength: 9 }), script => {
    const known: Known = { answers: [] }
    for (let run = 0; run <= script.length; run++) {
      const questions = new ServerQuestions(known)
      for (const [at, question] of script.entries()) {
        const said = ask(questions, question)
        if (typeof said === 'string') return false
        if (!('answer' in said)) {
          if (at !== run || !isAbout(said, question)) return false
          answered(known, said)
          break
        }
        if (at >= run || writeJson(said.answer) !== heard(question, answerAt(at))) return false
      }
    }
    return known.answers.length === script.length
  }))
  t.pass()
})

t.test('whatever a server of 2025 asks, a question gets an answer that was given to the same one, each once in a run', async t => {
  fc.assert(fc.property(fc.array(fc.array(fc.nat(2), { maxLength: 5 }), { maxLength: 12 }), runs => {
    const known: Known = { answers: [] }
    const model: string[][] = [[], [], []]
    for (const script of runs) {
      const questions = new ServerQuestions(known)
      const unused = model.map(given => [...given])
      for (const question of script) {
        const said = ask(questions, question)
        const expected = unused[question]?.shift()
        if (typeof said === 'string') return false
        if ('answer' in said) {
          if (expected === undefined || writeJson(said.answer) !== heard(question, expected)) return false
          continue
        }
        if (expected !== undefined || !isAbout(said, question)) return false
        model[question]?.push(...answered(known, said))
        break
      }
    }
    return true
  }))
  t.pass()
})

const key = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('__proto__', 'constructor', '1', '0'))
// Names like numbers come first, as they do in any object.
const names = fc.uniqueArray(key, { maxLength: 4 }).map(list => Object.keys(Object.fromEntries(list.map(name => [name, 1]))))
const round = fc.record({ requests: names, state: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }) })
  .filter(({ requests, state }) => requests.length > 0 || state !== undefined)

t.test('a server of 2026 gets the answers to all that it asked last, under their names, and its state', async t => {
  fc.assert(fc.property(fc.array(round, { maxLength: 4 }), rounds => {
    const known: Known = { answers: [] }
    let at = 0
    let expected: string[] = []
    for (let run = 0; run <= rounds.length; run++) {
      const questions = new ServerQuestions(known)
      for (;;) {
        const { requests: before = [], state: stateBefore } = rounds[at - 1] ?? {}
        const { inputResponses = {}, requestState } = questions.brought
        const brought = before.map((name, place) => `${JSON.stringify(name)}:${heard(place, expected[place])}`)
        if (requestState !== stateBefore || Object.keys(inputResponses).length !== before.length) return false
        for (const [place, name] of before.entries()) if (!writeJson(inputResponses).includes(brought[place] ?? name)) return false
        const next = rounds[at++]
        if (next === undefined) return known.answers.length === rounds.flatMap(({ requests }) => requests).length
        expected = []
        const inputRequests = Object.fromEntries(next.requests.map((name, place) => [name, requests(place)]))
        const asked = questions.required({ inputRequests, ...next.state !== undefined && { requestState: next.state } })
        if (asked === undefined) continue
        expected = answered(known, asked)
        break
      }
    }
    return false
  }))
  t.pass()
})

t.test('whatever a server sends as a question, it is asked or refused with a reason, and the run after it begins', async t => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record({ inputRequests: fc.dictionary(key, fc.jsonValue()), requestState: fc.jsonValue() }, { requiredKeys: [] }),
    fc.record({ inputRequests: fc.dictionary(key, fc.record({ method: fc.constantFrom(method, 'roots/list', 'sampling/createMessage'), params: fc.jsonValue() })) }),
    fc.record({ mode: fc.constantFrom('form', 'url', 7), message: fc.jsonValue(), requestedSchema: fc.jsonValue() }, { requiredKeys: [] })
  )
  fc.assert(fc.property(odd, fc.constantFrom(method, 'sampling/createMessage', 'roots/list', 'no/such', undefined), fc.boolean(), (sent, asks, isOld) => {
    const record = typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? { ...sent } : {}
    const said = isOld ? new ServerQuestions({}).asked(asks, sent) : new ServerQuestions({}).required(record)
    if (said === undefined || typeof said === 'string') return said !== ''
    if ('answer' in said) return false
    const { requestState = '' } = new ServerQuestions({ answers: ['{}'], ...said.memo !== undefined && { memo: said.memo } }).brought
    return typeof requestState === 'string'
  }), { numRuns: 500 })
  const large = new ServerQuestions({}).required({ requestState: 'x'.repeat(65_536) })
  t.match(large, /more than 65536 characters/)
})
