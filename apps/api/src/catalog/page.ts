import { HttpError } from '@toolyard/contract'

/**
 * Makes one page of a list. A cursor is the name of the last item of the page before.
 *
 * @throws HttpError `VALIDATION_ERROR` for one that is no longer there.
 */
export function pageOf<Item> (
  items: readonly Item[], { cursor, size, nameOf }: { cursor: string | undefined, size: number, nameOf: (item: Item) => string }
): { page: Item[], nextCursor?: string } {
  const before = cursor === undefined ? -1 : items.findIndex(item => nameOf(item) === cursor)
  if (cursor !== undefined && before === -1) throw new HttpError('VALIDATION_ERROR', 'No such cursor: the list has changed, begin anew')
  const page = items.slice(before + 1, before + 1 + size)
  const last = page.at(-1)
  return { page, ...last !== undefined && before + 1 + page.length < items.length && { nextCursor: nameOf(last) } }
}
