import { Buffer } from 'node:buffer'
import { asError, isRecord, limits, readWhole, thrownAs, writeJson, type CallError, firstChars } from '@toolyard/contract/terms'
import type { McpRun } from '@toolyard/manifests'
import { outputFault } from '../result/declared-output.ts'
import { shortOutput } from '../result/large-output.ts'
import { cutText } from '../result/output.ts'
import { startDeadline, type Interruption } from '@toolyard/sandbox'
import { interruptionError } from '../run/interruption.ts'
import { failure, type AskedBack, type Outcome, type RunContext } from '../run/outcome.ts'
import type { DeclaredCheck, ToolCall } from '../run/tool-call.ts'
import { bufferOf } from '@toolyard/runtime/threads'
import { traceFields } from '../run/trace-fields.ts'
import type { Connection, RemoteCall } from './connection.ts'
import { unfitAnswer, type CallResult } from './wire/message.ts'
import { ServerFault, UnsentFault } from './wire/message-reader.ts'
import { scopeOf, unaskedError } from './server-tool.ts'
import { asking, never, nobodyAnswers, ServerQuestions } from './server-questions.ts'
import type { Lease, McpServers } from './servers.ts'
import { hidden, hiddenIn } from './wire/setting-text.ts'

/** Answers of a server that has forgotten the session of a connection: it has not looked at the call. */
const sessionLost: ReadonlySet<unknown> = new Set([400, 401, 403, 404, 409, 410])

/**
 * Runs one call of a tool of an MCP server. The tool must be the one that was accepted. A call is sent once: one that was
 * on its way when its server ended fails, though the server may have done it.
 */
export async function runMcp (run: McpRun, call: ToolCall, servers: McpServers): Promise<Outcome> {
  const { context } = call
  const begun = performance.now()
  const deadline = startDeadline(context.timeoutMs, context.signal)
  const stop = new AbortController()
  try {
    const outcome = await attempt(run, { call, servers, stop, interrupted: deadline.interrupted })
    record(run, call, outcome, performance.now() - begun)
    return outcome
  } finally {
    deadline.clear()
  }
}

interface Attempt {
  call: ToolCall
  servers: McpServers
  stop: AbortController
  interrupted: Promise<Interruption>
  /** Whether the session was lost before. */
  again?: true
}

async function attempt (run: McpRun, given: Attempt): Promise<Outcome> {
  const { call: { context, box, limit, workspaceDir }, servers, interrupted } = given
  const using = servers.use(run.server, { ...scopeOf(run.server, context), box, limit, workspaceDir, stored: context.secrets })
  const used = await Promise.race([using.then(lease => ({ kind: 'used' as const, lease })), interrupted])
  if (used.kind !== 'used') {
    void using.then(late => { if (late.ok) late.release() })
    return { ok: false, error: unaskedError(run.server, interruptionError(used)) }
  }
  const { lease } = used
  if (!lease.ok) return lease
  try {
    return await callOnce(run, lease, { ...given, questions: new ServerQuestions(context), rounds: 0 })
  } catch (error) {
    const status = lease.connection.hasSession && isRecord(error) ? error['status'] : undefined
    // Some servers answer with a fault of their own, which the call may have had: the next one gets a new session.
    if (typeof status === 'number') servers.renew(lease.connection)
    if (!sessionLost.has(status) || given.again === true) {
      const failure = failureOf(error, run, lease.connection)
      if (failure.code === 'OUTPUT_INVALID') servers.report(run.server, failure.message)
      return { ok: false, error: failure }
    }
    return await attempt(run, { ...given, again: true })
  } finally {
    lease.release()
  }
}

interface Round extends Attempt {
  questions: ServerQuestions
  /** How often a server of 2026 wanted to be called again at once. */
  rounds: number
}

const mostRounds = 5

type Ended =
  | { kind: 'answered', result: CallResult }
  | { kind: 'asks', asked: AskedBack }
  | { kind: 'refused', error: CallError }
  | Interruption

async function callOnce (run: McpRun, lease: Lease, round: Round): Promise<Outcome> {
  const { call, servers, stop, interrupted, questions, rounds } = round
  const { args, context } = call
  const { server, remote } = run
  const { connection } = lease
  let ask: (ended: Ended) => void = () => {}
  const asked = new Promise<Ended>(resolve => { ask = resolve })
  const calling = (async (): Promise<Ended> => {
    const refusal = await otherThanAccepted(run, connection, servers)
    if (refusal !== undefined) return { kind: 'refused', error: refusal }
    const result = await connection.call({
      tool: remote,
      schema: call.tool.parameters,
      arguments: args,
      signal: stop.signal,
      onProgress: tellProgress(context, connection.secrets),
      meta: traceFields(context.trace),
      brought: questions.brought,
      async onAsked (method, params) {
        const said = questions.asked(method, hiddenIn(params, connection.secrets))
        if (typeof said === 'string') servers.report(server, said)
        if (typeof said === 'string') return await nobodyAnswers(method)
        if ('answer' in said) return said.answer
        ask({ kind: 'asks', asked: said })
        return await never()
      }
    })
    return { kind: 'answered', result }
  })()
  const ended = await Promise.race([calling, interrupted, asked])
  switch (ended.kind) {
    case 'answered': return await answered(ended.result)
    case 'refused': return { ok: false, error: ended.error }
    case 'asks':
      giveUp()
      return asking(server.name, ended.asked)
    default:
      giveUp()
      if (server.connection.kind === 'stdio') void servers.suspect(server, connection).catch(() => {})
      return { ok: false, error: interruptionError(ended) }
  }

  function giveUp (): void {
    calling.catch(() => {})
    stop.abort()
  }

  async function answered (result: CallResult): Promise<Outcome> {
    // A schema that was accepted is one of what is structured alone, and that is lost where an output is cut.
    const { whole } = result
    const isWhole = whole !== undefined && run.outputSchema === undefined && whole.json.length <= call.maxOutputBytes
    const given = isWhole ? { ...result, ...whole } : result
    if (given.asks === undefined) return await asAccepted(outcomeOf(given, call.maxOutputBytes), run, call.worker.checkOutput)
    const said = questions.required(given.asks)
    if (said === undefined && rounds < mostRounds) return await callOnce(run, lease, { ...round, rounds: rounds + 1 })
    if (typeof said === 'object' && hidden(said.memo, connection.secrets) === said.memo) return asking(server.name, said)
    const why = typeof said === 'object' ? 'its requestState has a secret in it, and would be kept as it is' : said ?? 'it wants to be called again and again'
    const message = `MCP server ${JSON.stringify(server.name)} can't be answered: ${why}`
    return failure('QUESTION_INVALID', message)
  }
}

/** Callers count on the accepted schema, whatever the server sends. What it said in place of that is told. */
async function asAccepted (outcome: Outcome, { outputSchema }: McpRun, check: DeclaredCheck): Promise<Outcome> {
  if (outputSchema === undefined || !outcome.ok) return outcome
  const message = await outputFault(outcome, async output => await check(outputSchema, output))
  if (message === undefined) return outcome
  const { output } = outcome
  const said = typeof output === 'string' ? { details: { output: firstChars(output, limits.errorMessageChars) } } : {}
  return { ok: false, error: { code: 'OUTPUT_INVALID', message, ...said } }
}

/** A server may describe its tools otherwise at any time; models have read what was accepted. */
async function otherThanAccepted (
  { server, remote, digest }: McpRun, connection: Connection, servers: McpServers
): Promise<CallError | undefined> {
  const now = await connection.digestOf(remote).catch((error: unknown) => { throw Object.assign(asError(error), { unsent: true }) })
  if (now === digest) return undefined
  const what = now === undefined ? `has no tool ${JSON.stringify(remote)} any more` : `describes its tool ${JSON.stringify(remote)} otherwise than it was accepted`
  servers.report(server, `it ${what}; look at it with toolyard accept ${server.source.file}`)
  return { code: 'TOOL_UNAVAILABLE', message: `MCP server ${JSON.stringify(server.name)} ${what}. An operator can look at it with toolyard accept` }
}

function outcomeOf ({ isError, details, json: bytes, parts }: CallResult, maxBytes: number): Outcome {
  const json = bufferOf(bytes)
  if (!isError && json.length > shortOutput && json.length <= maxBytes) return { ok: true, output: undefined, json, parts }
  const written = json.toString()
  if (isError) {
    const text = String(JSON.parse(written)).trim()
    const message = firstChars(text === '' ? 'the tool reported an error without a text' : text, limits.errorMessageChars)
    // Longer details would be walked through in one turn.
    const more = details !== undefined && details.length <= shortOutput ? { details: readWhole(details) } : {}
    return { ok: false, error: { code: 'TOOL_FAILED', message, ...more } }
  }
  const value: unknown = written.startsWith('"') || json.length <= shortOutput ? readWhole(written) : written
  const text = typeof value === 'string' ? Buffer.from(value) : json
  if (text.length <= maxBytes) return { ok: true, output: value }
  return cutText({ kept: text.subarray(0, maxBytes), totalBytes: text.length })
}

/** `unsent`: thrown before the call was sent. Only what never reached the tool is TOOL_UNAVAILABLE. */
function failureOf (error: unknown, { server }: McpRun, connection: Connection): CallError {
  const name = JSON.stringify(server.name)
  const { message } = asError(error)
  const { code, status, data }: Record<string, unknown> = isRecord(error) ? error : {}
  const isUnsent = [error, isRecord(error) ? error['cause'] : undefined].some(each => isRecord(each) && each['unsent'] === true)
  const says = (text: string): string => firstChars(hidden(text, connection.secrets), limits.errorMessageChars)
  const { reason } = connection
  const ours = thrownAs(error, UnsentFault)?.callError
  if (ours !== undefined) return ours
  if (isUnsent) return { code: 'TOOL_UNAVAILABLE', message: says(`MCP server ${name} can't be used: ${reason ?? message}`) }
  if (reason !== undefined) return { code: 'TOOL_FAILED', message: says(`MCP server ${name} ended while it ran the call: ${reason}`) }
  if (code === unfitAnswer) return { code: 'OUTPUT_INVALID', message: `MCP server ${name} answered with something that can't be read: ${says(message)}` }
  if (typeof code === 'number') return { code: 'TOOL_FAILED', message: says(message), details: { code, ...(data === undefined ? {} : { data: hiddenIn(data, connection.secrets) }) } }
  if (status === 401 || status === 403) return { code: 'TOOL_UNAVAILABLE', message: `MCP server ${name} refuses the credentials of this service (HTTP status ${status})` }
  if (typeof status === 'number') return { code: 'TOOL_FAILED', message: `MCP server ${name} answered with the HTTP status ${status}` }
  const fault = thrownAs(error, ServerFault)
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE') return { code: 'OUTPUT_INVALID', message: `MCP server ${name} answered with something else than a result of a call` }
  return { code: 'TOOL_FAILED', message: says(`MCP server ${name} failed: ${fault?.message ?? message}`) }
}

/** Reports a server's progress as the job's, if it is valid. */
function tellProgress ({ progress: tell }: RunContext, secrets: readonly string[]): RemoteCall['onProgress'] {
  return ({ progress: done, total, message }) => {
    if (!isCount(done) || !(total === undefined || isCount(total))) return
    // More than is kept, so that nothing is cut here that must be hidden.
    const text = message === undefined || message.trim() === '' ? null : hidden(firstChars(message, limits.logMessageChars), secrets)
    tell?.({ done, total: total ?? null, text })
  }
}

function isCount (value: number): boolean {
  return Number.isFinite(value) && value >= 0
}

/** The process is not the call's: the line says which tool was called, and what came of it. */
function record ({ server, remote }: McpRun, { tool, context, audit, workspaceDir }: ToolCall, outcome: Outcome, ms: number): void {
  const bytes = outcome.ok ? outcome.cut?.bytes ?? Buffer.byteLength(outcome.json ?? writeJson(outcome.output) ?? '') : 0
  const interrupted = !outcome.ok && ['TOOL_TIMEOUT', 'JOB_CANCELLED', 'WORKER_LOST', 'TOOL_UNAVAILABLE'].includes(outcome.error.code)
  audit.record({
    at: new Date(),
    tool: tool.name,
    job: context.jobId,
    argv: ['mcp', server.name, remote],
    cwd: workspaceDir,
    exit: outcome.ok ? 0 : interrupted ? -1 : 1,
    ms: Math.round(ms),
    stdoutBytes: bytes,
    stderrBytes: 0,
    truncated: outcome.ok && outcome.cut !== undefined,
    envKeys: [],
    ...(!outcome.ok && outcome.error.code === 'TOOL_UNAVAILABLE' ? { error: outcome.error.message } : {})
  })
}
