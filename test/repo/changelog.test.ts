import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findChangelogFaults } from './changelog.ts'
import { repoRoot } from './source-tree.ts'

t.test('a changelog with the version is accepted, released or not', async t => {
  t.strictSame(findChangelogFaults('# Changelog\n\n## [Unreleased]\n\n### Added\n\n- It.\n', '1.2.3'), [])
  t.strictSame(findChangelogFaults('## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Fixed\n\n- It.\n', '1.2.3'), [])
})

t.test('an empty version, a release without a date and an unknown kind of change are found', async t => {
  t.strictSame(findChangelogFaults('## [Unreleased]\n\n## [1.2.2] - 2026-01-31\n- It.\n', '1.2.3'), ['nothing is said of 1.2.3'])
  t.strictSame(findChangelogFaults('## [Unreleased]\n- It.\n## [1.2.2]\n### Improved\n', '1.2.3'), ["'[1.2.2]' is no release", "'Improved' is no kind of change"])
})

t.test('A43 the changelog of this repository describes the changes of its version', async t => {
  const { version } = JSON.parse(await readFile(join(repoRoot, 'package.json'), 'utf8')) as { version: string }
  t.strictSame(findChangelogFaults(await readFile(join(repoRoot, 'CHANGELOG.md'), 'utf8'), version), [])
})
