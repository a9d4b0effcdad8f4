import { isRecord, limits } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { folded } from '../document/folded.ts'
import type { Finding } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { Tool } from '../tool/tool.ts'
import type { Layer } from './layer.ts'

const description = 'What the tools belong to, such as billing: models and people look for tools by it, and keys may be bound to it.'
/** All tools of a manifest belong to it, or those of one entry. */
export const Namespace = Type.String({ minLength: 1, maxLength: limits.namespaceChars, description })

/** The place of an entry's tools among many others: for manifests of every format. */
export const catalogueFields = {
  namespace: Type.Optional(Namespace),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: manifestLimits.tagChars }), { maxItems: manifestLimits.tags, description: 'Words that the tool is found by, beside its name and description.' })),
  pinned: Type.Optional(Type.Boolean({ default: false, description: 'Whether models have the tool from the start where others are deferred.' }))
}

type CatalogueFields = Pick<Tool, 'namespace' | 'tags' | 'pinned'>

/**
 * The layer of a manifest whose text is `value`: its tools have the namespace of their entry, else that of their server, else that of
 * the manifest, and the tags of their entry.
 */
export function withCatalogueFields (layer: Layer, value: unknown, file: string): Layer {
  if (!isRecord(value)) return layer
  const findings: Finding[] = []
  const note = (message: string, index?: number): void => {
    findings.push({ severity: 'warning', file, rule: 'catalogue/fields', ...index !== undefined && { index }, message: `${index === undefined ? '' : `tool[${index}]: `}${message}; it is ignored`, fix: 'Correct it; docs/catalogues.md has these fields.' })
  }
  const common = fieldsOf(value, note).namespace
  const written = listOf(value)
  const known = new Map<number, CatalogueFields>()
  const ofEntry = (index: number): CatalogueFields => {
    const fields = known.get(index) ?? fieldsOf(written[index], message => { note(message, index) })
    known.set(index, fields)
    return fields
  }
  const entries = layer.entries.map(entry => {
    if (entry.kind === 'switch') return entry
    const { namespace = entry.tool.namespace ?? common, ...own } = ofEntry(entry.tool.source.index)
    const fields = { ...own, ...namespace !== undefined && { namespace } }
    return Object.keys(fields).length === 0 ? entry : { ...entry, tool: withFields(entry.tool, fields) }
  })
  return { ...layer, entries, findings: [...layer.findings, ...findings] }
}

const extended = new WeakMap<Tool, { text: string, tool: Tool }>()

/** The same object for the same tool with the same fields, so that a reload knows it again. */
function withFields (tool: Tool, fields: CatalogueFields): Tool {
  const text = JSON.stringify(fields)
  const known = extended.get(tool)
  if (known?.text === text) return known.tool
  const own = { ...tool, ...fields }
  extended.set(tool, { text, tool: own })
  return own
}

function fieldsOf (written: unknown, note: (message: string) => void): CatalogueFields {
  const fields: CatalogueFields = {}
  if (!isRecord(written)) return fields
  for (const [name, value] of Object.entries(written)) {
    if (value === null) continue
    switch (folded(name)) {
      case 'namespace':
        if (isText(value, limits.namespaceChars)) fields.namespace = value
        else note(`namespace must be a text of 1 to ${limits.namespaceChars} characters`)
        break
      case 'tags':
        if (isTags(value)) fields.tags = value
        else note(`tags must be at most ${manifestLimits.tags} texts of 1 to ${manifestLimits.tagChars} characters`)
        break
      case 'pinned':
        if (typeof value !== 'boolean') note('pinned must be true or false')
        else if (value) fields.pinned = true
    }
  }
  return fields
}

function isTags (value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= manifestLimits.tags && value.every(tag => isText(tag, manifestLimits.tagChars))
}

function isText (value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most
}

function listOf (manifest: Record<string, unknown>): readonly unknown[] {
  const list = Object.entries(manifest).findLast(([name, value]) => folded(name) === 'tools' && value !== null)?.[1]
  return Array.isArray(list) ? list : []
}
