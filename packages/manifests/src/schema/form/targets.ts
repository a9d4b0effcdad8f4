import { orElse, pointerTarget } from '@toolyard/contract/terms'
import { subschemasOf } from './subschemas.ts'

/** Where references lead that stay within a schema: by a pointer, or by the name of a subschema. */
export function targetsIn (schema: object): (reference: string) => unknown {
  let named: Map<string, unknown> | undefined
  return reference => {
    const fragment = reference.slice(reference.indexOf('#') + 1)
    if (fragment === '' || fragment.startsWith('/')) return pointerTarget(schema, `#${fragment}`)
    named ??= new Map(subschemasOf(schema).flatMap(({ node }) => namesOf(node).map(name => [name, node] as const)))
    return named.get(orElse(() => decodeURIComponent(fragment), fragment))
  }
}

/** Before 2019-09, an `$id` that is a fragment names a subschema. */
function namesOf ({ $anchor, $dynamicAnchor, $id }: Record<string, unknown>): string[] {
  const names = [$anchor, $dynamicAnchor, typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined]
  return names.filter(name => typeof name === 'string')
}
