import { parseArgs } from 'node:util'
import { asError } from '@toolyard/contract/terms'
import type { Stage } from './row.ts'

export interface BenchOptions {
  rows: ReadonlySet<string>
  isQuick: boolean
  json: string
  /** The file of an earlier run, or a commit. */
  compare: string | undefined
}

/**
 * Reads the command line. Names are those of rows or of stages, by `--only a,b` or by themselves; without any, all rows
 * but the heavy ones, which `--all` adds. A quick run takes the heavy ones too: it is short anyway.
 *
 * @throws Error that names what is wrong and what there is.
 */
export function readOptions (argv: readonly string[], stages: Record<string, Stage>): BenchOptions {
  const { values, positionals } = parse(argv)
  const names = [...positionals, ...values.only ?? []].flatMap(text => text.split(',')).filter(name => name !== '')
  const chosen = names.flatMap(name => rowsOf(name, stages))
  const usual = Object.values(stages).filter(({ isHeavy }) => isHeavy !== true || values.all === true || values.quick === true)
  return {
    rows: new Set(names.length > 0 ? chosen : usual.flatMap(({ rows }) => Object.keys(rows))),
    isQuick: values.quick === true,
    json: values.json ?? '.toolyard/bench.json',
    compare: values.compare
  }
}

interface Parsed {
  values: { only?: string[], all?: boolean, quick?: boolean, json?: string, compare?: string }
  positionals: string[]
}

function parse (argv: readonly string[]): Parsed {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        only: { type: 'string', multiple: true }, all: { type: 'boolean' }, quick: { type: 'boolean' }, json: { type: 'string' }, compare: { type: 'string' }
      }
    })
  } catch (error) {
    throw new Error(`${asError(error).message}\nOptions: --only NAME,... --all --quick --json FILE --compare FILE|COMMIT`)
  }
}

function rowsOf (name: string, stages: Record<string, Stage>): string[] {
  const stage = stages[name]
  if (stage !== undefined) return Object.keys(stage.rows)
  if (Object.values(stages).some(({ rows }) => name in rows)) return [name]
  const all = Object.entries(stages).map(([each, { rows }]) => `  ${each}: ${Object.keys(rows).join(', ')}`)
  throw new Error(`no row or stage is called '${name}'; there are, by stage:\n${all.join('\n')}`)
}
