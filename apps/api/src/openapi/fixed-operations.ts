import { isRecord } from '@toolyard/contract'
import { descriptions } from './descriptions/descriptions.ts'
import { errorReference } from './error-answers.ts'
import { headerParameter, headerReferences } from './headers.ts'
import type { NamedSchemas } from './named-schemas.ts'
import type { AnswerDescription, RouteDescription } from './descriptions/route-description.ts'
import type { ListedRoute } from './route-list.ts'
import { parametersOfTools } from './tool-operation.ts'

/** Statuses of errors that a route can have because it needs a key, or Redis. */
const errorsOfKeys = [401, 403, 429, 500, 503]
const parameterTexts: Readonly<Record<string, string>> = { id: 'The id of the job.', name: 'The exact name.' }

/** The operations of the routes that are described, by path and method. */
export function fixedOperations (routes: readonly ListedRoute[], schemas: NamedSchemas): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const description = descriptions[`${route.method} ${route.url}`]
    if (description === undefined) continue
    const path = paths[route.url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}')] ??= {}
    path[route.method.toLowerCase()] = operation(route, description, schemas)
  }
  return paths
}

function operation (route: ListedRoute, about: RouteDescription, schemas: NamedSchemas): object {
  const { schema, url } = route
  const needsKey = url.startsWith('/v1/') || url === '/metrics'
  // A parameter of a path may be badly encoded, one of the query unknown.
  const ofParameters = schema.params === undefined && !url.startsWith('/v1/') ? [] : [400]
  const errors = [...new Set([...(needsKey ? errorsOfKeys : []), ...ofParameters, ...(about.errors ?? [])])].sort()
  const parameters = [
    ...parametersOf('path', schema.params, schemas),
    ...isToolCall(route) ? parametersOfTools : parametersOf('query', about.query ?? schema.querystring, schemas),
    ...(about.headers ?? []).map(headerParameter)
  ]
  return {
    operationId: about.id,
    tags: [about.tag],
    summary: about.summary,
    ...(about.description === undefined && !needsKey
      ? {}
      : {
          description: [about.description, needsKey ? `Role: ${roleOf(route)}.` : undefined].filter(Boolean).join('\n\n')
        }),
    ...(needsKey ? {} : { security: url === '/openapi.json' ? [{}, { key: [] }, { bearer: [] }] : [] }),
    ...(route.config.streamTicket === true ? { security: [{ key: [] }, { bearer: [] }, { ticket: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(route, about, schemas),
    responses: {
      ...answersOf(isRecord(schema.response) ? schema.response : {}, about, schemas),
      ...Object.fromEntries(errors.filter(status => !(status in about.answers)).map(status => [
        status,
        errorReference(isToolCall(route) ? 'ToolError' : 'Error', status)
      ]))
    }
  }
}

function isToolCall ({ url }: ListedRoute): boolean {
  return url === '/v1/tools/:name'
}

function roleOf ({ method, config }: ListedRoute): string {
  const needed = config.role ?? (method === 'GET' ? 'read' : 'admin')
  return needed === 'admin' ? 'admin' : needed === 'approver' ? 'approver or admin' : 'read, approver or admin'
}

function parametersOf (place: 'path' | 'query', schema: unknown, schemas: NamedSchemas): object[] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).map(([name, property]) => {
    const description = (isRecord(property) ? property['description'] : undefined) ?? parameterTexts[name]
    return {
      name: name === '*' ? 'path' : name,
      in: place,
      ...(place === 'path' ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: schemas.refer(property)
    }
  })
}

function bodyOf ({ method, schema, config }: ListedRoute, { id, body: example, file }: RouteDescription, schemas: NamedSchemas): object {
  if (file !== undefined) return { requestBody: { content: { [file]: { schema: { type: 'string', format: 'binary' } } } } }
  if (example === undefined || method === 'GET') return {}
  const body = schema.body === undefined ? { type: 'object' } : schemas.refer(schema.body)
  return {
    requestBody: {
      required: config.bodyOptional !== true,
      content: { 'application/json': { schema: body, example } }
    }
  }
}

function answersOf (ofRoute: Record<string, unknown>, about: RouteDescription, schemas: NamedSchemas): Record<string, object> {
  return Object.fromEntries(Object.entries(about.answers).map(([status, answer]) => [status, {
    description: answer.description,
    headers: headerReferences(answer.headers),
    ...(answer.empty === true ? {} : { content: contentOf(answer, ofRoute[status], schemas) })
  }]))
}

function contentOf ({ content, example }: AnswerDescription, ofRoute: unknown, schemas: NamedSchemas): object {
  const all: NonNullable<AnswerDescription['content']> = content ?? {
    'application/json': { schema: ofRoute ?? {}, ...(example === undefined ? {} : { example }) }
  }
  return Object.fromEntries(Object.entries(all).map(([type, { schema, ...rest }]) => [type, { schema: schemas.refer(schema), ...rest }]))
}
