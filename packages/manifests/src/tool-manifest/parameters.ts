import { isRecord } from '@toolyard/contract/terms'
import { commonForm } from '../schema/form/common-form.ts'
import type { JsonSchema } from '../tool/tool.ts'

/**
 * The schema of a tool's arguments: what `inputs` says of each parameter is its schema, and `required: true` puts
 * its name into the list of required ones. Other keywords of JSON Schema are passed on. Arguments that aren't declared
 * are let through, as the programs of this format do.
 */
export function parametersOf (inputs: Readonly<Record<string, unknown>>): JsonSchema {
  return commonForm({ type: 'object', ...membersOf(inputs) })
}

/** Schemas of what a tool returns, by name: written like inputs, but all of them are expected. */
export function outputsOf (outputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return commonForm({ properties: schemasOf(outputs) }).properties
}

function schemasOf (fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]))
}

function membersOf (fields: Readonly<Record<string, unknown>>): JsonSchema {
  const required = Object.keys(fields).filter(name => isRecord(fields[name]) && fields[name]['required'] === true)
  return {
    properties: schemasOf(fields),
    ...required.length > 0 && { required }
  }
}

/** Inside of a schema, `required` may be of both kinds: a boolean of the property, or a list of its own properties. */
function schemaOf (field: unknown): unknown {
  if (!isRecord(field)) return field
  const { required, properties, items, ...rest } = field
  return {
    ...rest,
    ...items !== undefined && { items: schemaOf(items) },
    ...isRecord(properties) ? membersOf(properties) : properties !== undefined && { properties },
    ...Array.isArray(required) && {
      required: [...new Set([...required as unknown[], ...isRecord(properties) ? requiredOf(properties) : []])]
    }
  }
}

function requiredOf (properties: Record<string, unknown>): readonly unknown[] {
  const { required } = membersOf(properties)
  return Array.isArray(required) ? required as unknown[] : []
}
