import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { asError, isRecord, prettyJson, readJson, writeJson } from '@toolyard/contract/terms'
import { jsonOption, textOption, type Command } from '../terminal/command.ts'
import { exitStatus, misuse } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'
import { askService, strangeAnswer } from './ask-service.ts'
import { findTarget, type Target } from './target.ts'

/** `toolyard batch`: a batch as a model's turn makes it. */
export const batch: Command = {
  name: 'batch',
  summary: 'Post a batch of calls from a file',
  help: `Posts the file as it is to POST /v1/agent-tools/invoke-batch and prints the answer as JSON: {"calls": [...]}, or a model's message
with tool_calls, output or content. - is stdin.

Exit status: 0 when all calls succeeded, 1 when one failed, 5 when one goes on.`,
  arguments: ['<file>'],
  options: [['--session <id>', 'run the calls in this session, in place of one that the file names'], jsonOption],
  run: async ({ args: [file = '-'], options }) => {
    const body = inSession(read(file), textOption(options, 'session'))
    const target = findTarget(process.env)
    const started = performance.now()
    const answer = await post(target, body)
    print(prettyJson(answer))
    const { results } = answer
    complain(`${results.length} ${results.length === 1 ? 'call' : 'calls'} took ${Math.round(performance.now() - started)} ms, asked ${target.description}`)
    if (results.some(result => result['ok'] !== true && result['pending'] !== true)) return exitStatus.failed
    return results.some(result => result['pending'] === true) ? exitStatus.pending : exitStatus.done
  }
}

function read (file: string): string {
  try {
    const text = readFileSync(file === '-' ? 0 : file, 'utf8')
    JSON.parse(text)
    return text
  } catch (error) {
    throw misuse(`${file === '-' ? 'stdin' : file} can't be read as JSON: ${asError(error).message}`)
  }
}

/** As it is where no session is named, so that the service checks what was written. */
function inSession (text: string, session: string | undefined): string {
  if (session === undefined) return text
  const body = readJson(text)
  if (!isRecord(body)) throw misuse('a batch must be a JSON object, such as {"calls": [...]}')
  return writeJson({ ...body, session })
}

async function post (target: Target, body: string): Promise<{ results: Array<Record<string, unknown>> }> {
  const answer = await askService(target, { method: 'POST', path: '/v1/agent-tools/invoke-batch', body, headers: { 'idempotency-key': randomUUID() } })
  const { results } = answer
  if (!Array.isArray(results) || !results.every(isRecord)) throw strangeAnswer(target, answer)
  return { ...answer, results }
}
