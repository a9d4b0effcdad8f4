import { readCitations, type Citation } from './rules.ts'
import { readTree, repoRoot } from './source-tree.ts'

/** The rules that this repository's tests cite; the guard's own tests plant citations and are left out. */
export async function repositoryCitations (): Promise<Citation[]> {
  return readCitations(await readTree(repoRoot, path => /^test\/.*\.test\.ts$/.test(path) && !/^test\/repo\/(?:rules|conformance)\.test\.ts$/.test(path)))
}
