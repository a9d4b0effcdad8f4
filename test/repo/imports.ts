import ts from 'typescript'
import type { SourceFile } from './source-tree.ts'

/** One import of a file, in whatever form. */
export interface Import {
  /** Undefined when the target is computed, so that it can't be read. */
  specifier: string | undefined
  /** Nothing of it is left in the compiled program. */
  typeOnly: boolean
  /** Loaded where the program gets to it, and not before the file runs. */
  late: boolean
  /** From 1. */
  line: number
}

/**
 * Reads the imports of a file: `import`, `export ... from`, `import x = require()`, `import()` as an expression and as a
 * type, `require()`, `require.resolve()` and `import.meta.resolve()`.
 */
export function readImports ({ path, text }: SourceFile): Import[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: Import[] = []
  const visit = (node: ts.Node): void => {
    const found = readImport(node)
    if (found !== undefined) {
      const specifier = found.target !== undefined && ts.isStringLiteralLike(found.target) ? found.target.text : undefined
      imports.push({
        specifier,
        typeOnly: found.typeOnly,
        late: ts.isCallExpression(node),
        line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return imports
}

interface Found {
  target: ts.Node | undefined
  typeOnly: boolean
}

function readImport (node: ts.Node): Found | undefined {
  if (ts.isImportDeclaration(node)) {
    return { target: node.moduleSpecifier, typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return { target: node.moduleSpecifier, typeOnly: node.isTypeOnly }
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    return { target: node.moduleReference.expression, typeOnly: node.isTypeOnly }
  }
  if (ts.isImportTypeNode(node)) return { target: ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, typeOnly: true }
  if (ts.isCallExpression(node) && isImportCall(node.expression)) return { target: node.arguments[0], typeOnly: false }
  return undefined
}

function isImportCall (callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true
  if (ts.isIdentifier(callee)) return callee.text === 'require'
  if (!ts.isPropertyAccessExpression(callee) || callee.name.text !== 'resolve') return false
  return ts.isMetaProperty(callee.expression) || (ts.isIdentifier(callee.expression) && callee.expression.text === 'require')
}
