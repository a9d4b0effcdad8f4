/** Ordinary patterns, each with a text that fits and one that doesn't. */
export const accepted: ReadonlyArray<readonly [pattern: string, fits: string, fails: string]> = [
  ['^[a-z0-9-]+$', 'a-1', 'A'],
  ['^\\d{4}-\\d{2}-\\d{2}$', '2026-11-21', '2026-11'],
  ['^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', 'a@b.org', 'a@b\u2003.org'],
  ['^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$', 'a.b@c.org', 'a@b'],
  ['^https?://', 'https://x', 'ftp://x'],
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', '550e8400-e29b-41d4-a716-446655440000', '550e8400'],
  ['^([01]\\d|2[0-3]):[0-5]\\d$', '23:59', '24:00'],
  ['^#[0-9a-fA-F]{6}$', '#12abEF', '#12'],
  ['^[a-z0-9]+(-[a-z0-9]+)*$', 'a-b-c', 'a--b'],
  ['^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$', 'www.example.org', '-a.org'],
  ['^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$', '127.0.0.1', '256.0.0.1'],
  ['^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$', '1.2.3-rc.1', '01.2.3'],
  ['^(?=.*[A-Z])(?=.*\\d).{8,}$', 'Abcdefg1', 'abcdefg1'],
  ['^(?!-)[a-z-]+$', 'a-b', '-a'],
  ['\\.json$', 'a.json', 'a.jso'],
  // Escapes that JavaScript refuses where Unicode counts, and others take for the character.
  ['^\\d{4}\\-\\d{2}\\_\\@[\\w\\-\\:]+$', '2026-11_@a-:', '2026-11'],
  ['^([^;]+;)*[^;]+$', 'a;b', 'a;;b'],
  ['^\\p{Lu}\\p{Ll}+( \\p{Lu}\\p{Ll}+)*$', 'Élan Vital', 'élan'],
  ['^(?<year>\\d{4})$', '2026', '26'],
  ['^.{1,5000}$', 'x', ''],
  ['^(/[^/]+)+$', '/a/b', '//'],
  [`^(${Array.from({ length: 150 }, (_, index) => `w${index}`).join('|')})$`, 'w149', 'w150'],
  // Quadratic for an engine that backtracks; run on one that doesn't.
  ['a*a*b', 'aab', 'aa'],
  ['\\s+$', 'x\u00a0', 'x\u180e'],
  ['^\\s+|\\s+$', ' x', 'x'],
  ['^.*foo.*$', 'a foo', 'a\nfoo'],
  ['[\\S\\d]*[^\\W\\s]+x$', '-1x', ' '],
  ['.*[\\u0041-\\u{1F600}\\]^-]x$', '😀x', '1x']
]

/** Whether a check is made in a thread: one that is made here has its answer before anything else happens. */
export async function isElsewhere (check: () => Promise<unknown>): Promise<boolean> {
  let isOver = false
  const checking = check().then(() => { isOver = true })
  for (let step = 0; step < 20; step++) await Promise.resolve()
  const elsewhere = !isOver
  await checking
  return elsewhere
}
