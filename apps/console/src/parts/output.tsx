import type { VNode } from 'preact'
import { JsonTree } from './json-tree.tsx'

const image = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,[\w+/=]+$/

/** What a tool gave: an image, a text as it is, or a value as a tree. */
export function Output ({ value }: { value: unknown }): VNode {
  const images = imagesOf(value)
  if (typeof value === 'string' && images.length === 0) return <pre class='text'>{value === '' ? '(empty text)' : value}</pre>
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
