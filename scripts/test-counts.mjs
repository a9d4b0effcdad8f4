/**
 * Reads the counts that tap puts at the end of its output: `# { total: 10, pass: 5, fail: 2, todo: 1, skip: 2 }`.
 * A file that breaks before its first assertion counts as one failure there. No counts at all mean that nothing ran.
 *
 * @param {string} tap raw TAP
 * @returns {{ passed: number, failed: number, skipped: number }} `skipped` includes what is marked as to do
 */
export function readCounts (tap) {
  const summary = tap.split('\n').findLast(line => line.startsWith('# { total: ')) ?? ''
  /** @param {string} name */
  const count = name => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0)
  return { passed: count('pass'), failed: count('fail'), skipped: count('skip') + count('todo') }
}
