import type { Tool } from '../tool.ts'
import { dataFileRead } from './data-file-read.ts'
import type { BuiltinDeclaration } from './declaration.ts'
import { toolsFileSearch } from './tools-file-search.ts'

const declarations: readonly BuiltinDeclaration[] = [dataFileRead, toolsFileSearch]

/** The tools that a worker runs itself, in the order of publication (R7, R8). */
export function builtinTools (): Tool[] {
  return declarations.map((declaration, index) => ({
    ...declaration,
    enabled: true,
    // They only read, so running one again after its worker died does no harm.
    idempotent: true,
    source: { format: 'builtin', file: 'builtin', index },
    run: { kind: 'builtin' }
  }))
}
