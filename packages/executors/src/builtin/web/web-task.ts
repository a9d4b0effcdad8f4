import { Buffer } from 'node:buffer'
import { movable, type ThreadAnswer } from '@toolyard/runtime/threads'
import { parseJson } from '../../run/json.ts'
import { BuiltinFailure } from '../kit/handler.ts'
import { decodeText, jsonType } from '../../run/decode-text.ts'
import { htmlText } from './page/html-text.ts'
import { readBrave } from './search/brave.ts'
import { readDuckDuckGo } from './search/duckduckgo.ts'
import type { WebResult } from './search/provider.ts'
import { readSearxng } from './search/searxng.ts'

/** Bytes of a page that is read at once; a larger one is read in a thread. */
export const shortPage = 65_536

/** A fetched page: plain data, for a thread. */
export interface PageTask {
  bytes: Uint8Array
  truncated: boolean
  url: string
  status: number
  contentType: string
  /** HTML stays as it is. */
  raw: boolean
  durationMs: number
}

export type SearchProviderName = 'duckduckgo' | 'brave' | 'searxng'

export interface ResultsTask {
  body: Uint8Array
  name: SearchProviderName
}

const readers: Readonly<Record<SearchProviderName, (body: string) => WebResult[]>> = {
  duckduckgo: readDuckDuckGo, brave: readBrave, searxng: readSearxng
}

/** The answer of `data.fetch`. */
export function pageAnswer ({ url, status, contentType, bytes, truncated, raw, durationMs }: PageTask): object {
  const text = decodeText(bytes, contentType)
  const isJson = jsonType.test(contentType)
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType)
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    content_type: contentType,
    body_text: isHtml && !raw ? htmlText(text) : text,
    body_json: isJson && !truncated ? parseJson(text)?.value ?? null : null,
    truncated,
    bytes_read: bytes.length,
    duration_ms: durationMs
  }
}

export function runPageTask (task: PageTask): ThreadAnswer {
  const json = Buffer.from(JSON.stringify(pageAnswer(task)))
  return { answer: json, move: movable(json) }
}

/** The results in the answer of a search service. @throws BuiltinFailure for what is no such answer. */
export function resultsOf ({ body, name }: ResultsTask): WebResult[] {
  try {
    return readers[name](Buffer.from(body).toString('utf8'))
  } catch {
    throw new BuiltinFailure(`${name} answered with something that is no list of results`)
  }
}

export function runResultsTask (task: ResultsTask): ThreadAnswer {
  return { answer: resultsOf(task) }
}
