import { numberText } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { LongText } from './long-text.tsx'

/** Members of one object or list that are shown at once. */
const shownAtOnce = 100
/** Objects and lists that are open at first, by their depth and size. */
const openDepth = 2
const openSize = 20

interface TreeProps {
  value: unknown
  depth?: number
  name?: string
  /** How a number was written. */
  written?: string | undefined
}

export function JsonTree ({ value, depth = 0, name, written }: TreeProps): VNode {
  const label = name === undefined ? null : <span class='json-name'><LongText text={name} />: </span>
  if (typeof value !== 'object' || value === null) return <div class='json-leaf'>{label}<Leaf value={value} written={written} /></div>
  const members = Array.isArray(value)
    ? value.map((each, index): Member => [String(index), each, numberText(value, index)])
    : Object.entries(value).map(([name, each]): Member => [name, each, numberText(value, name)])
  const summary = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`
  if (members.length === 0) return <div class='json-leaf'>{label}<span class='json-punctuation'>{Array.isArray(value) ? '[]' : '{}'}</span></div>
  return (
    <details class='json-branch' open={depth < openDepth && members.length <= openSize}>
      <summary>{label}<span class='json-punctuation'>{summary}</span></summary>
      <Members members={members} depth={depth + 1} />
    </details>
  )
}

type Member = readonly [name: string, value: unknown, written: string | undefined]

function Members ({ members, depth }: { members: readonly Member[], depth: number }): VNode {
  const [shown, setShown] = useState(shownAtOnce)
  return (
    <div class='json-members'>
      {members.slice(0, shown).map(([name, value, written]) => (
        <JsonTree key={name} name={name} value={value} written={written} depth={depth} />
      ))}
      {members.length > shown && (
        <button type='button' class='quiet' onClick={() => { setShown(shown + shownAtOnce) }}>{members.length - shown} more</button>
      )}
    </div>
  )
}

function Leaf ({ value, written }: { value: unknown, written: string | undefined }): VNode {
  if (typeof value === 'string') return <span class='json-text'><LongText text={JSON.stringify(value)} /></span>
  return <span class='json-literal'>{written ?? String(value)}</span>
}
