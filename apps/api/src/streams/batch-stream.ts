import { around, writeJson, type InvokeBatchResponse } from '@toolyard/contract'
import type { FastifyReply } from 'fastify'
import type { AnswerListener } from '../invocation/batch/batch-invoker.ts'
import { answerJson } from '../invocation/batch/batch-response.ts'
import { modelContent, resultOf, toolMessage } from '../invocation/batch/call-answer.ts'
import type { EventStream } from './event-stream.ts'
import type { EventStreams } from './event-streams.ts'
import { commentFrame, eventFrame, jsonFrame } from './frame.ts'

const faultFrame = commentFrame('the service met a fault; its log has it under the request id')

/**
 * Answers a batch with events: each call's answer as it is known, then the body that the JSON answer would have had.
 * Until the jobs are made, a failure is still an answer of its own with its own status.
 *
 * @param run invokes the batch.
 * @throws HttpError `UNAVAILABLE` when too many streams are open; whatever `run` throws before the jobs are made.
 */
export async function streamBatch (
  streams: EventStreams, reply: FastifyReply, run: (listener: AnswerListener) => Promise<InvokeBatchResponse>
): Promise<void> {
  streams.requireRoom()
  let stream: EventStream | undefined
  try {
    const body = await run({
      started: () => { stream = streams.open(reply) },
      answered: (index, { call, answer }) => {
        const message = toolMessage(call, writeJson(modelContent(answer)))
        stream?.send(eventFrame('call_result', around({ index, result: resultOf(call, answer), tool_message: message })))
      }
    })
    // An async batch has its whole answer at once.
    stream ??= streams.open(reply)
    stream.end(jsonFrame('end', await answerJson(body)))
  } catch (error) {
    stream?.end(faultFrame)
    throw error
  }
}
