import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

/** A unit of systemd: the values of each key, in order, over all sections. */
export type Unit = Map<string, string[]>

export const unitDir = join(repoRoot, 'deploy/systemd')

/** Reads a unit of deploy/systemd. */
export function readUnit (name: string): Unit {
  const unit: Unit = new Map()
  for (const line of readFileSync(join(unitDir, name), 'utf8').split('\n')) {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) unit.set(key, [...unit.get(key) ?? [], value])
    else if (!/^(#.*|\[\w+\]|)$/.test(line)) throw new Error(`${name}: ${line}`)
  }
  return unit
}

/** The one value of a key; the last one counts, as in systemd. */
export function valueOf (unit: Unit, key: string): string {
  return unit.get(key)?.at(-1) ?? ''
}

/** The variables that the unit sets itself. */
export function unitEnvironment (unit: Unit): Record<string, string> {
  return Object.fromEntries((unit.get('Environment') ?? []).map(assignment))
}

/** The variables of a file that `EnvironmentFile` reads. */
export function readEnvironmentFile (name: string): Record<string, string> {
  const lines = readFileSync(join(unitDir, name), 'utf8').split('\n')
  return Object.fromEntries(lines.filter(line => line !== '' && !line.startsWith('#')).map(assignment))
}

function assignment (text: string): [string, string] {
  const [name = '', ...value] = text.split('=')
  return [name, value.join('=')]
}
