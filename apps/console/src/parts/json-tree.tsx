import type { VNode } from 'preact'
import { useState } from 'preact/hooks'

/** Members of one object or list that are shown at once. */
const shownAtOnce = 100
/** Objects and lists that are open at first, by their depth and size. */
const openDepth = 2
const openSize = 20

/** A value as a tree whose branches open and close. */
export function JsonTree ({ value, depth = 0, name }: { value: unknown, depth?: number, name?: string }): VNode {
  const label = name === undefined ? null : <span class='json-name'>{name}: </span>
  if (typeof value !== 'object' || value === null) return <div class='json-leaf'>{label}<Leaf value={value} /></div>
  const members = Array.isArray(value) ? value.map((each, index) => [String(index), each] as const) : Object.entries(value)
  const summary = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`
  if (members.length === 0) return <div class='json-leaf'>{label}<span class='json-punctuation'>{Array.isArray(value) ? '[]' : '{}'}</span></div>
  return (
    <details class='json-branch' open={depth < openDepth && members.length <= openSize}>
      <summary>{label}<span class='json-punctuation'>{summary}</span></summary>
      <Members members={members} depth={depth + 1} />
    </details>
  )
}

function Members ({ members, depth }: { members: ReadonlyArray<readonly [string, unknown]>, depth: number }): VNode {
  const [shown, setShown] = useState(shownAtOnce)
  return (
    <div class='json-members'>
      {members.slice(0, shown).map(([name, value]) => <JsonTree key={name} name={name} value={value} depth={depth} />)}
      {members.length > shown && (
        <button type='button' class='quiet' onClick={() => { setShown(shown + shownAtOnce) }}>{members.length - shown} more</button>
      )}
    </div>
  )
}

function Leaf ({ value }: { value: unknown }): VNode {
  if (typeof value === 'string') return <span class='json-text'>{JSON.stringify(value)}</span>
  return <span class='json-literal'>{String(value)}</span>
}
