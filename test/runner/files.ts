import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suites, type Suite } from './suites.ts'

const built = 'test/build'

/** A file of tests as it was built, relative to the root, and how its suite runs it. */
export interface TestFile extends Omit<Suite, 'paths'> {
  path: string
  /** A reader of the output knows it by this: the suite and the source, such as `warm: test/faults/escape`. */
  title: string
}

/**
 * The files that are meant, in the order of the suites. A file of two suites is there once for each.
 *
 * @param names suites, sources with or without `.test.ts`, directories of sources, or what was built from them.
 * @throws Error that names what is no test.
 */
export function testFiles (names: readonly string[]): TestFile[] {
  const all = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.js')).sort()
  const found = names.flatMap(name => name in suites ? ofSuite(all, name) : at(all, name))
  return [...new Map(found.map(file => [file.title, file])).values()]
}

function ofSuite (all: readonly string[], name: string): TestFile[] {
  return suites[name]?.paths.flatMap(path => within(all, path).map(file => testFile(file, name))) ?? []
}

function at (all: readonly string[], path: string): TestFile[] {
  const name = path.replace(/^(\.\/)?test\/(build\/)?/, '').replace(/\.ts$/, '.js').replace(/\/$/, '')
  const found = within(all, name)
  if (found.length === 0) throw new Error(`No test at ${path}: name a file or a directory below test/, or one of ${Object.keys(suites).join(', ')}.`)
  return found.map(file => testFile(file, suiteOf(file)))
}

/** The suite that a file runs in when it is named: the one that needs nothing in its environment. */
function suiteOf (file: string): string {
  const own = Object.entries(suites).filter(([, { paths }]) => paths.some(path => within([file], path).length > 0)).map(([name]) => name)
  return own.find(name => suites[name]?.env === undefined) ?? own[0] ?? 'unit'
}

function testFile (file: string, name: string): TestFile {
  const { paths, ...how } = suites[name] as Suite
  return { ...how, path: join(built, file), title: `${name}: test/${file.replace(/\.test\.js$/, '')}` }
}

function within (all: readonly string[], name: string): string[] {
  return all.filter(file => file === name || file === `${name}.test.js` || file.startsWith(`${name}/`))
}
