import { isRecord } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { JsonTree } from '../parts/json-tree.tsx'

/** How a person answers in a text what is asked of a model, or for directories. */
export const plainAnswers = {
  sampling: {
    label: 'What a model says',
    answer: (text: string): object => ({ role: 'assistant', content: { type: 'text', text }, model: 'person' })
  },
  roots: {
    label: 'Directories, one on each line, as file:///home/ada/project',
    answer: (text: string): object => ({ roots: text.split('\n').map(line => line.trim()).filter(line => line !== '').map(uri => ({ uri })) })
  }
} as const

/** Who says what, and the rest as it is. */
export function Prompt ({ params }: { params: unknown }): VNode {
  const { messages, systemPrompt, ...rest }: Record<string, unknown> = isRecord(params) ? params : {}
  return (
    <>
      <dl class='facts'>
        {typeof systemPrompt === 'string' && <Said by='system' content={systemPrompt} />}
        {Array.isArray(messages) && messages.filter(isRecord).map(({ role, content }, at) =>
          <Said key={at} by={String(role)} content={content} />)}
      </dl>
      <div class='json'><JsonTree value={rest} /></div>
    </>
  )
}

function Said ({ by, content }: { by: string, content: unknown }): VNode {
  const blocks: unknown[] = Array.isArray(content) ? content : [content]
  return <div><dt>{by}</dt><dd>{blocks.map((block, at) => <Block key={at} block={block} />)}</dd></div>
}

function Block ({ block }: { block: unknown }): VNode {
  const text = isRecord(block) && block['type'] === 'text' ? block['text'] : block
  return typeof text === 'string' ? <p class='asked-text'>{text}</p> : <div class='json'><JsonTree value={text} depth={9} /></div>
}
