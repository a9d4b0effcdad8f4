import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServiceFiles, openDirectory, openWorkspace } from '@toolyard/workspace'
import { searchNames } from './walk/name-search.ts'

/**
 * Opens a directory, puts a link to another directory in its place, and searches it. Returns what the search saw of the
 * other directory; undefined when it saw nothing of it.
 */
export function probeSearch (): string | undefined {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-probe-'))
  const [outside, workspace] = [join(base, 'outside'), join(base, 'workspace')]
  for (const place of [outside, join(workspace, 'searched')]) mkdirSync(place, { recursive: true })
  writeFileSync(join(outside, 'secret'), '')
  symlinkSync(outside, join(workspace, 'searched/link'))
  const root = openWorkspace(workspace, new ServiceFiles([]))
  const searched = openDirectory(root, 'searched')
  try {
    renameSync(join(workspace, 'searched'), join(workspace, 'away'))
    symlinkSync(outside, join(workspace, 'searched'))
    const { results } = searchNames({
      fd: searched.handle.fd,
      absolute: searched.absolute,
      root: { fd: root.handle.fd, paths: root.paths },
      serviceFiles: [],
      base: 'searched',
      includeHidden: true,
      includeIgnored: true,
      glob: undefined,
      after: undefined,
      limit: 1,
      until: Infinity,
      find: { kind: 'names', query: 'secret' }
    }, 'secret')
    return results.length === 0 ? undefined : 'a search saw a directory outside of the one that was opened'
  } finally {
    searched.handle.close()
    root.handle.close()
    rmSync(base, { recursive: true })
  }
}
