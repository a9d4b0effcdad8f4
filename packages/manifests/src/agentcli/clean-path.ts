/**
 * The shortest equal path, by Go's `path.Clean`: no empty, `.` or inner `..` elements, no slash at the end, `.` for
 * nothing. Purely lexical. Node's `path.posix.normalize` differs: it keeps a slash at the end.
 */
export function cleanPath (path: string): string {
  const rooted = path.startsWith('/')
  const elements: string[] = []
  for (const element of path.split('/')) {
    if (element === '' || element === '.') continue
    if (element !== '..') elements.push(element)
    else if (elements.length > 0 && elements.at(-1) !== '..') elements.pop()
    else if (!rooted) elements.push('..')
  }
  const clean = elements.join('/')
  return rooted ? `/${clean}` : clean || '.'
}
