import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { dailyKinds, kinds } from './kinds.ts'

const built = 'test/build'

/**
 * The built files of tests, relative to the root, which is the working directory.
 *
 * @param names kinds of tests, sources with or without `.test.ts`, directories of
 * sources, or what was built from them; none means those of every day.
 * @throws Error that names what is no test.
 */
export function testFiles (names: readonly string[]): string[] {
  const all = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.test.js')).sort()
  const found = (names.length === 0 ? dailyKinds : names).flatMap(name =>
    kinds[name]?.flatMap(dir => within(all, dir)) ?? filesAt(all, name))
  return [...new Set(found)].map(file => join(built, file))
}

function filesAt (all: readonly string[], path: string): string[] {
  const name = path.replace(/^(\.\/)?test\/(build\/)?/, '').replace(/\.ts$/, '.js').replace(/\/$/, '')
  const found = within(all, name)
  if (found.length === 0) throw new Error(`No test at ${path}: name a file or a directory below test/, or one of ${Object.keys(kinds).join(', ')}.`)
  return found
}

function within (all: readonly string[], name: string): string[] {
  return all.filter(file => file === name || file === `${name}.test.js` || file.startsWith(`${name}/`))
}
