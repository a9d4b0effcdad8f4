import { storedJson, streamTokenParam } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import { mapInTurns } from '@toolyard/runtime'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { tags } from './descriptions/route-description.ts'
import { errorAnswers } from './error-answers.ts'
import { fixedOperations } from './fixed-operations.ts'
import { answerComponents, headerParameters } from './headers.ts'
import { NamedSchemas } from './named-schemas.ts'
import type { ListedRoute } from './route-list.ts'
import { headersOfTools, schemasOfTools, toolEntry, toolParameters } from './tool-operation.ts'

/** The tools as members of the objects `paths` and `schemas`, without the braces. */
interface ToolMembers {
  paths: Buffer
  schemas: Buffer
}

interface DocumentQuery {
  /** The tools that are in it; one list gives the same document as long as it lives. */
  tools: readonly Tool[]
  /** The operations of tools alone. */
  toolsOnly: boolean
  server: string
}

/** All but the smallest pieces are in memory once: everybody may have them sent, and not read them. */
export interface WrittenDocument {
  pieces: readonly Buffer[]
  bytes: number
  etag: string
}

const { version } = storedJson<{ version: string }>(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Writes documents of OpenAPI. What is the same for all of them is made once, and the part of a list of tools once for each. */
export class OpenApiDocuments {
  readonly #routes: readonly ListedRoute[]
  readonly #authDisabled: boolean
  readonly #members = new WeakMap<readonly Tool[], Promise<ToolMembers>>()
  readonly #frames = new Map<boolean, Frame>()

  constructor (routes: readonly ListedRoute[], authDisabled: boolean) {
    this.#routes = routes
    this.#authDisabled = authDisabled
  }

  /** The document in pieces, and its entity tag. Many tools take several turns of the event loop. */
  async write ({ tools, toolsOnly, server }: DocumentQuery): Promise<WrittenDocument> {
    const members = this.#members.get(tools) ?? membersOf(tools)
    this.#members.set(tools, members)
    const { head, paths, schemas, tail } = this.#frame(toolsOnly)
    const { paths: toolPaths, schemas: toolSchemas } = await members
    const pieces = [
      head, Buffer.from(`"servers":${JSON.stringify([{ url: server }])},"paths":{`), ...joined(paths, toolPaths),
      Buffer.from('},"components":{"schemas":{'), ...joined(schemas, toolSchemas), Buffer.from('},'), tail
    ]
    const hash = createHash('sha256')
    for (const each of pieces) {
      hash.update(each)
      if (each.length > largeBytes) await turn()
    }
    return { pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0), etag: `"${hash.digest('base64url')}"` }
  }

  #frame (toolsOnly: boolean): Frame {
    const frame = this.#frames.get(toolsOnly) ?? newFrame(toolsOnly ? undefined : this.#routes, this.#authDisabled)
    this.#frames.set(toolsOnly, frame)
    return frame
  }
}

/** A part of a document that takes a turn of the event loop by itself. */
const largeBytes = 1_048_576
const comma = Buffer.from(',')

async function membersOf (tools: readonly Tool[]): Promise<ToolMembers> {
  const entries = await mapInTurns(tools, tool => {
    const { path, operations, schemas } = toolEntry(tool)
    return { path: `${JSON.stringify(path)}:${JSON.stringify(operations)}`, schemas: JSON.stringify(schemas).slice(1, -1) }
  })
  return { paths: Buffer.from(entries.map(({ path }) => path).join()), schemas: Buffer.from(entries.map(({ schemas }) => schemas).join()) }
}

/** A document beside its tools. */
interface Frame {
  head: Buffer
  paths: Buffer
  schemas: Buffer
  tail: Buffer
}

const about = `Runs tool calls of LLM agents.

A key is sent as \`x-api-key\`, or as \`Authorization: Bearer KEY\`. Every answer has the header \`x-request-id\`.
An error has the body \`{"ok": false, "error": {"code", "message", "details"?}, "request_id"}\`; programs should decide by the code.

A request that is no valid HTTP, or takes too long to arrive, is answered with the same body
and the status 400, 408 or 431, whatever it is for.`

function newFrame (routes: readonly ListedRoute[] | undefined, authDisabled: boolean): Frame {
  const schemas = new NamedSchemas()
  const paths = fixedOperations(routes ?? [], schemas)
  for (const schema of schemasOfTools) schemas.refer(schema)
  const responses = { ...(routes === undefined ? {} : errorAnswers(schemas, 'Error')), ...errorAnswers(schemas, 'ToolError') }
  const head = {
    openapi: '3.1.0',
    info: {
      title: routes === undefined ? 'Toolyard: the tools' : 'Toolyard',
      version,
      description: about,
      license: { name: 'MIT', identifier: 'MIT' }
    },
    security: authDisabled ? [] : [{ key: [] }, { bearer: [] }],
    tags: Object.entries(tags).filter(
      ([name]) => routes !== undefined || name === 'tools'
    ).map(([name, description]) => ({ name, description }))
  }
  const tail = {
    responses,
    parameters: { ...toolParameters, ...headerParameters(routes === undefined ? headersOfTools : undefined) },
    headers: answerComponents(routes === undefined ? headersOfTools : undefined),
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key.' },
      bearer: { type: 'http', scheme: 'bearer', description: 'The same key.' },
      ...(routes === undefined
        ? {}
        : {
            ticket: { type: 'apiKey', in: 'query', name: streamTokenParam, description: 'A ticket of `POST /v1/auth/sse-token`.' }
          })
    }
  }
  return {
    head: Buffer.from(`${JSON.stringify(head).slice(0, -1)},`),
    paths: Buffer.from(JSON.stringify(paths).slice(1, -1)),
    schemas: Buffer.from(JSON.stringify(schemas.components()).slice(1, -1)),
    tail: Buffer.from(`${JSON.stringify(tail).slice(1)}}`)
  }
}

function joined (ours: Buffer, ofTools: Buffer): Buffer[] {
  return ours.length === 0 || ofTools.length === 0 ? [ours, ofTools] : [ours, comma, ofTools]
}
