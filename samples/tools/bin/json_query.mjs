#!/usr/bin/env node
// json_query: finds values in a JSON file of the workspace, or in a given JSON text.
// Arguments: {"path"} or {"json"}, and {"query"}: a JSON Pointer (/stations/0/name) or a JSON path ($.stations[*].name).
import { answer, readWorkspaceText } from './lib/call.mjs'

const maxBytes = 10 * 1024 * 1024
const step = /\.(\*|[\p{L}_$][\p{L}\p{N}_$-]*)|\[(\*|-?\d{1,9})\]|\['([^'\]]*)'\]|\["([^"\]]*)"\]/guy

await answer(async args => {
  const { path, json, query } = args
  if ((json === undefined) === (path === undefined)) throw new Error('give either path or json')
  const steps = readQuery(query)
  const root = path === undefined ? parse(json, 'json is no JSON text') : parse(await readWorkspaceText(path, maxBytes), `file is not JSON: ${path}`)
  const matches = steps.reduce((found, take) => found.flatMap(take), [root])
  return { query, count: matches.length, matches }
})

/** A query as a list of steps; each takes a value to the values below it. */
function readQuery (query) {
  if (typeof query !== 'string') throw new Error('query is required, such as /stations/0/name or $.stations[*].name')
  if (query === '' || query.startsWith('/')) return readPointer(query)
  if (query.startsWith('$')) return readPath(query)
  throw new Error("query must start with '/' (a JSON Pointer) or '$' (a JSON path)")
}

function readPointer (query) {
  return query.split('/').slice(1).map(token => {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    return value => Array.isArray(value) ? item(value, /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1) : member(value, key)
  })
}

function readPath (query) {
  const steps = [...query.slice(1).matchAll(step)]
  const end = steps.reduce((length, [text]) => length + text.length, 1)
  if (end < query.length) throw new Error(`query is not a JSON path that this tool knows, at: ${query.slice(end, end + 40)}`)
  return steps.map(pathStep)
}

function pathStep ([, name, index, ...quoted]) {
  if (name === '*' || index === '*') return children
  const key = name ?? quoted.find(each => each !== undefined)
  if (key !== undefined) return value => Array.isArray(value) ? [] : member(value, key)
  return value => Array.isArray(value) ? item(value, Number(index) < 0 ? value.length + Number(index) : Number(index)) : []
}

function children (value) {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

function member (value, key) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? [value[key]] : []
}

function item (list, index) {
  return index >= 0 && index < list.length ? [list[index]] : []
}

function parse (text, fault) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(fault)
  }
}
