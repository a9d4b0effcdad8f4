import { prettyJson } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { storeFile } from './store-file.ts'

/** SVG is shown as its text: a few lines of it can be drawn for minutes. */
const image = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/

/** An image, a text as it is, or a value as a tree; it can be stored as a file. */
export function Output ({ value, name }: { value: unknown, name: string }): VNode {
  return <><Shown value={value} /><p class='store'><button type='button' class='quiet' onClick={() => { storeOutput(value, name) }}>Store as a file</button></p></>
}

function Shown ({ value }: { value: unknown }): VNode {
  const images = imagesOf(value)
  if (typeof value === 'string' && images.length === 0) return <pre class='text'>{value === '' ? '(empty text)' : <LongText text={value} />}</pre>
  return (
    <>
      {images.map((source, index) => <img key={index} class='picture' src={source} alt='The picture that the tool put out' />)}
      {typeof value === 'string' ? null : <div class='json'><JsonTree value={value} /></div>}
    </>
  )
}

/** The images of a value: a data URL, or the contents of an MCP tool. */
function imagesOf (value: unknown): string[] {
  if (typeof value === 'string') return image.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  const { type, data, mimeType, content }: { type?: unknown, data?: unknown, mimeType?: unknown, content?: unknown } = value
  if (Array.isArray(content)) return content.flatMap(imagesOf)
  const source = `data:${String(mimeType)};base64,${String(data)}`
  return type === 'image' && image.test(source) ? [source] : []
}

function storeOutput (value: unknown, name: string): void {
  const [source] = imagesOf(value)
  if (source !== undefined) {
    const [head = '', data = ''] = source.split(',')
    const type = /^data:([^;]+)/.exec(head)?.[1] ?? ''
    storeFile(new Blob([Uint8Array.from(atob(data), letter => letter.charCodeAt(0))], { type }), `${name}.${type.replace('image/', '')}`)
  } else if (typeof value === 'string') storeFile(new Blob([value], { type: 'text/plain' }), `${name}.txt`)
  else storeFile(new Blob([prettyJson(value)], { type: 'application/json' }), `${name}.json`)
}
