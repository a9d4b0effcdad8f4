/** Whether an `If-None-Match` header names an entity tag. */
export function namesTag (header: string | undefined, etag: string): boolean {
  return header?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ?? false
}
