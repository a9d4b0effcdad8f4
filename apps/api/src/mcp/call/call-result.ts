import { writeJson, type CallError, type ResultFile } from '@toolyard/contract'
import { truncate } from '@toolyard/queue'
import { LoopTurns } from '@toolyard/runtime'
import { isSpecType, type CallToolResult, type ContentBlock } from '@modelcontextprotocol/server'
import type { ToolAnswer } from '../../invocation/batch/tool-invoker.ts'
import { isRoundedByDoubles } from '../../outputs/rounded-numbers.ts'
import { isTooLarge, type ShownImage } from '../../outputs/shown-images.ts'
import type { ListedTool } from './tool-list.ts'
import type { WrittenParts } from './written-parts.ts'

/** Where a result names its job, and says what went wrong. */
const metaKeys = { jobId: 'toolyard/job_id', error: 'toolyard/error', outputBytes: 'toolyard/output_bytes', files: 'toolyard/files' } as const

export interface ResultParts {
  /** Small ones that the tool has returned. */
  images: readonly ShownImage[]
  written: WrittenParts
  /** Whose call it is: owners take turns. */
  owner: string
  /** From which length on the output is cut, and what is told of it then. */
  cutting?: { chars: number, notice: CutNotice } | undefined
}

/** A word on how a model comes to the rest of an output. */
type CutNotice = (cut: { jobId: string, bytes: string, preview: string }) => string | undefined

/** An output of so many characters fills a turn of the event loop: it is parsed here, and checked and written by the SDK. */
const charsOfTurn = 65_536
/** Shorter ones don't wait. */
const shortChars = 4_096
const turns = new LoopTurns()

/**
 * The outcome of a call, as MCP has it; the tool says what its clients rely on. Large ones that come at once are made in turns.
 */
export async function callResult (answer: ToolAnswer<string>, tool: ListedTool | undefined, parts: ResultParts): Promise<CallToolResult> {
  const chars = answer.kind === 'output' ? answer.json.length : 0
  if (chars < shortChars) return resultOf(answer, tool, parts)
  return await turns.run(parts.owner, Math.min(1, chars / charsOfTurn), () => resultOf(answer, tool, parts))
}

function resultOf (answer: ToolAnswer<string>, tool: ListedTool | undefined, { images, written, cutting }: ResultParts): CallToolResult {
  const job = answer.jobId === undefined ? {} : { [metaKeys.jobId]: answer.jobId }
  if (answer.kind === 'failed') return failure(answer.error, job, written)
  if (answer.kind === 'pending') {
    return failure({ code: answer.code, message: answer.message }, job, written)
  }
  const { json, cut, files = [] } = answer
  // Clients refuse an answer without the structure that the tool has promised.
  const isPromised = tool?.outputSchema !== undefined
  const mayCut = cutting !== undefined && json.length > cutting.chars && !isPromised
  const shown = mayCut ? shownPart(answer, cutting) : undefined
  const notice: ContentBlock[] = cut === undefined || shown !== undefined
    ? []
    : [
        { type: 'text', text: `The output is cut: ${cut.storedBytes} of ${cut.bytes} bytes were kept.` }
      ]
  const pictures = images.map(({ type, data }): ContentBlock => ({ type: 'image', mimeType: type, data }))
  const further = [...notice, ...pictures, ...fileList(files)]
  const output = shown ?? (cut === undefined ? outputOf(json, written, { isPromised, isAll: further.length === 0 }) : textOf(json))
  if (isPromised && output.structuredContent === undefined) return failure(noStructure(answer.jobId ?? ''), job, written)
  const bytes = cut === undefined ? {} : { [metaKeys.outputBytes]: cut.bytes }
  const named = files.length === 0 ? {} : { [metaKeys.files]: files }
  return { ...output, content: [...output.content, ...further], _meta: { ...job, ...bytes, ...named } }
}

/** The beginning and the end of an output, and how a model comes to the rest. */
function shownPart (
  { jobId, json, cut }: Extract<ToolAnswer<string>, { kind: 'output' }>, { chars, notice }: { chars: number, notice: CutNotice }
): Output {
  const bytes = cut?.bytes ?? Buffer.byteLength(json)
  const part = truncate(json, bytes, { chars, end: json })
  const kept = cut === undefined ? '' : `, of which ${cut.storedBytes} were kept`
  const told = jobId === undefined ? undefined : notice({ jobId, bytes: `${bytes} bytes${kept}`, preview: part.preview })
  return { content: [JSON.stringify(part), ...told === undefined ? [] : [told]].map(text => ({ type: 'text', text })) }
}

/**
 * Files of the session, which `resources/read` reads with the same session. They are a text: helpers of Anthropic's and LangChain's
 * libraries take a whole result for a failure, or throw, when a `resource_link` is in it.
 */
function fileList (files: readonly ResultFile[]): ContentBlock[] {
  if (files.length === 0) return []
  const lines = files.map(({ path, size, type }) => `${workspaceUri(path)} (${type}, ${size} bytes)`)
  return [{ type: 'text', text: ['Files that the call made or changed in its session:', ...lines].join('\n') }]
}

/**
 * A failure that the model reads: the message, then its code and details. It is one text, since the AI SDK makes an answer for Gemini of
 * each, and Gemini refuses two answers to one call. It is no JSON: some clients show what is JSON alone.
 */
function failure (error: CallError, job: object, written: WrittenParts): CallToolResult {
  const { code, message, details } = error
  const rest = details === undefined ? code : `${code} ${writeJson(details)}`
  const content: ContentBlock[] = [{ type: 'text', text: `${message}\n\n${rest}` }]
  const kept = details === undefined ? {} : { details: written.value(details, writeJson(details)) }
  return { content, isError: true, _meta: { ...job, [metaKeys.error]: { code, ...kept, message } } }
}

function noStructure (jobId: string): CallError {
  return { code: 'OUTPUT_INVALID', message: `The output is too large to be given as structured content; it is whole at /v1/jobs/${jobId}` }
}

/** An output that may return files, to look for them; undefined where there are none. */
export function filesIn (answer: ToolAnswer<string>): unknown {
  if (answer.kind !== 'output' || answer.cut !== undefined || !answer.json.includes('"$file"') || isTooLarge(answer.json)) return undefined
  return JSON.parse(answer.json)
}

type Output = Pick<CallToolResult, 'content' | 'structuredContent'>

/**
 * An output of so many values that reading it would hold up the process stays the text that it is. Some clients show models the structure
 * alone. So, unless the tool has promised one, there is none beside images and files, and none with numbers that clients would round.
 */
function outputOf (json: string, written: WrittenParts, { isPromised, isAll }: { isPromised: boolean, isAll: boolean }): Output {
  if (isTooLarge(json) || !/^[["{]/.test(json)) return textOf(json)
  const value = JSON.parse(json) as unknown
  if (typeof value === 'string') return textOf(json)
  const blocks = blocksOf(value)
  // What was promised is the whole output, also where it looks like a result of MCP.
  if (blocks !== undefined) return isPromised ? { content: blocks.content, structuredContent: written.output(json) } : blocks
  const mayBeStructure = !Array.isArray(value) && (isPromised || (isAll && !isRoundedByDoubles(json)))
  return { ...textOf(json), ...(mayBeStructure ? { structuredContent: written.output(json) } : {}) }
}

/** A text is itself, anything else its JSON. */
function textOf (json: string): Output {
  return { content: [{ type: 'text', text: json.startsWith('"') ? String(JSON.parse(json)) : json }] }
}

/**
 * The output of a tool that says in MCP's own words what it gives: `{"content": [...]}`, perhaps with `structuredContent`,
 * and nothing else.
 */
export function blocksOf (value: unknown): Output | undefined {
  if (typeof value !== 'object' || value === null || !('content' in value) || !Array.isArray(value.content)) return undefined
  const { content, structuredContent, ...rest }: { content: unknown[], structuredContent?: unknown } = { ...value, content: value.content }
  const isStructure = structuredContent === undefined || (
    typeof structuredContent === 'object' && structuredContent !== null && !Array.isArray(structuredContent)
  )
  if (
    Object.keys(rest).length > 0 || !isStructure || content.length === 0 || !content.every(block => isSpecType.ContentBlock(block))
  ) return undefined
  return { content, ...(structuredContent === undefined ? {} : { structuredContent }) }
}

/** Where the files of the workspace begin; a URI that ends in a slash is a directory. */
export const workspaceRoot = 'workspace:///'

export function workspaceUri (path: string): string {
  return `${workspaceRoot}${path.split('/').map(encodeURIComponent).join('/')}`
}
