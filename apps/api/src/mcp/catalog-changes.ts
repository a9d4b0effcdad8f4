import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import type { ToolLists } from './call/tool-list.ts'
import { listPrompts } from './offers/prompts.ts'

export interface CatalogChange {
  tools: boolean
  prompts: boolean
  /** The list of resources. */
  resources: boolean
  /** Resources that are made, or written, in another way now. */
  updated: readonly string[]
}

/** Published before. */
interface Snapshot {
  tools: string
  prompts: string
  /** A description of each resource, by its URI. */
  resources: ReadonlyMap<string, string>
}

/** Tells a listener what is published otherwise than before. */
export function onCatalogChange (catalog: ToolCatalog, lists: ToolLists, tell: (change: CatalogChange) => void): void {
  let known = snapshotOf(catalog, lists)
  catalog.onChange(() => {
    const now = snapshotOf(catalog, lists)
    const before = known
    known = now
    const change: CatalogChange = {
      tools: now.tools !== before.tools,
      prompts: now.prompts !== before.prompts,
      resources: [...now.resources.keys()].join('\n') !== [...before.resources.keys()].join('\n'),
      updated: [...now.resources.keys()].filter(uri => before.resources.has(uri) && before.resources.get(uri) !== now.resources.get(uri))
    }
    if (change.tools || change.prompts || change.resources || change.updated.length > 0) tell(change)
  })
}

function snapshotOf (catalog: ToolCatalog, lists: ToolLists): Snapshot {
  const publication = catalog.publication({})
  const skills = catalog.registry.skills()
  return {
    tools: JSON.stringify(lists.for({}).tools),
    prompts: JSON.stringify(listPrompts(skills, publication)),
    resources: new Map([
      ...skills.map(({ name, digest }) => [`skill://${name}/SKILL.md`, digest] as const),
      ...publication.resources.flatMap(tool => (
        tool.publishAs?.kind === 'resource' ? [[tool.publishAs.uri, JSON.stringify(tool)] as const] : []
      ))
    ])
  }
}
