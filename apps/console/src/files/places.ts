import { pathSegment } from '@toolyard/client'
/** Files that can be looked at: those of a session, or of the shared workspace. */
export interface Place {
  /** Of the route of its files. */
  path: string
  /** Of the page that shows them. */
  page: readonly string[]
}

export function fileRoute (place: Place, path: string): string {
  return [place.path, ...path.split('/').filter(name => !['', '.', '..'].includes(name)).map(pathSegment)].join('/')
}

/** How a file is shown, by its media type and its size; undefined where it is only downloaded. SVG is shown as its text. */
export function previewOf (type: string, size: number): 'text' | 'image' | undefined {
  if (/^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon)\b/.test(type)) return size <= mostImageBytes ? 'image' : undefined
  return /^text\/|[/+](?:json|xml|yaml|x-yaml|toml|javascript|x-sh|x-ndjson|sql)\b/.test(type) ? 'text' : undefined
}

/** A text is shown up to here, in bytes. */
export const mostTextBytes = 262_144
const mostImageBytes = 20_000_000
