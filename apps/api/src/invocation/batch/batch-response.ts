import { around, isRecord, readJson, writeJson, type Batch, type InvokeBatchResponse, type MessageFormat } from '@toolyard/contract'
import { mapInTurns, Turns } from '@toolyard/runtime'
import type { ShownImage } from '../../outputs/shown-images.ts'
import { numbersAsTexts } from '../../outputs/rounded-numbers.ts'
import { modelContent, resultOf, toolMessage, type Call, type CallAnswer } from './call-answer.ts'
import { providerMessages, type MessageOrigin } from './message-answers.ts'

export interface AnsweredCall {
  call: Call
  answer: CallAnswer
}

export interface MessageTerms {
  format: MessageFormat | undefined
  /** The message that the calls came in; answers in another format than its own have that format's usual form. */
  origin: MessageOrigin | undefined
  /** Of each call. */
  images: ReadonlyArray<readonly ShownImage[]>
}

/** A batch's answer as its caller gets it, in request order. In async mode only `messages` tell what a model is told. */
export async function batchResponse (
  mode: Batch['mode'], answered: readonly AnsweredCall[], { format, origin, images }: MessageTerms
): Promise<InvokeBatchResponse> {
  const results = around(answered.map(({ call, answer }) => resultOf(call, answer)))
  const contents = mode === 'sync' || format !== undefined ? answered.map(({ answer }) => modelContent(answer)) : []
  const texts = await mapInTurns(contents, writeJson)
  const response = around<InvokeBatchResponse>({
    ok: true,
    results,
    tool_messages: mode === 'async' ? [] : answered.map(({ call }, index) => toolMessage(call, texts[index] ?? '')),
    mode
  })
  if (format === undefined) return response
  const objects = format === 'gemini' ? await mapInTurns(texts, asDoubles) : []
  response.messages = providerMessages(format, answered.map(({ call: { call_id: id, name }, answer }, index) => ({
    id,
    hasId: origin?.calls[index]?.hasId ?? true,
    name,
    content: objects[index] ?? contents[index] ?? {},
    text: texts[index] ?? '',
    images: images[index] ?? [],
    failed: answer.kind === 'failed',
    dialect: origin?.calls[index]?.dialect,
    program: origin?.calls[index]?.program
  })))
  return around(response)
}

/** Gemini reads answers as objects whose numbers are doubles, and a text in one as it is. Undefined where no number would be rounded. */
function asDoubles (text: string): Record<string, unknown> | undefined {
  const kept = numbersAsTexts(text)
  const value = kept === text ? undefined : readJson(kept)
  return isRecord(value) ? value : undefined
}

/** UTF-16 units that become bytes at once. */
const pieceUnits = 65_536
/** So that the clock is looked at for each item of a list. */
const valuesOfItem = 64

/** The JSON of a batch's answer in pieces: twenty failures with large details take 0.1 s to write. */
export async function answerJson (answer: InvokeBatchResponse): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  const turns = new Turns()
  let text = '{'
  for (const [name, value] of Object.entries<unknown>(answer)) {
    text += `${text === '{' && pieces.length === 0 ? '' : ','}"${name}":`
    if (!Array.isArray(value)) {
      text += writeJson(value)
      continue
    }
    text += '['
    for (const [at, item] of value.entries()) {
      if (turns.isOver(valuesOfItem)) await turns.next()
      text += `${at === 0 ? '' : ','}${writeJson(item)}`
      if (text.length < pieceUnits) continue
      pieces.push(Buffer.from(text))
      text = ''
    }
    text += ']'
  }
  pieces.push(Buffer.from(`${text}}`))
  return pieces
}
