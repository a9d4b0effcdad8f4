import { posix } from 'node:path'
import ts from 'typescript'
import type { SourceFile } from './source-tree.ts'
import { readPackages } from './workspace-packages.ts'

/**
 * Finds the functions, classes and interfaces that a package's `src/index.ts` exports and that have no doc comment, as
 * `file:line name`. An export that is passed on from file to file is followed to where it is declared.
 */
export function findUndocumented (tree: SourceFile[]): string[] {
  const modules = new Map(tree.filter(({ path }) => path.endsWith('.ts')).map(file => [file.path, parse(file)]))
  const found = readPackages(tree).flatMap(({ dir }) => undocumentedExports(`${dir}/src/index.ts`, undefined, modules))
  return [...new Set(found)].sort()
}

type Modules = Map<string, ts.SourceFile>

/** `names` are the exports that are asked for; undefined means all of them. */
function undocumentedExports (path: string, names: Set<string> | undefined, modules: Modules): string[] {
  const file = modules.get(path)
  if (file === undefined) return []
  return file.statements.flatMap(statement => ts.isExportDeclaration(statement)
    ? followExport(statement, path, names, modules)
    : documentable(statement).filter(({ name, exported }) => exported && (names?.has(name) ?? true)).flatMap(({ name, documented }) =>
      documented ? [] : [`${path}:${file.getLineAndCharacterOfPosition(statement.getStart()).line + 1} ${name}`]))
}

function followExport (statement: ts.ExportDeclaration, path: string, names: Set<string> | undefined, modules: Modules): string[] {
  const { moduleSpecifier, exportClause } = statement
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) return []
  const target = posix.join(posix.dirname(path), moduleSpecifier.text)
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return undocumentedExports(target, undefined, modules)
  const passed = exportClause.elements
    .filter(element => names?.has(element.name.text) ?? true)
    .map(element => (element.propertyName ?? element.name).text)
  return passed.length === 0 ? [] : undocumentedExports(target, new Set(passed), modules)
}

interface Declared {
  name: string
  exported: boolean
  documented: boolean
}

/** The functions, classes and interfaces that a statement declares; a function may be the value of a constant. */
function documentable (statement: ts.Statement): Declared[] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)) {
    return [{ name: statement.name?.text ?? 'default', exported: isExported(statement), documented: isDocumented(statement) }]
  }
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)))
    .map(({ name }) => ({ name: name.getText(), exported: isExported(statement), documented: isDocumented(statement) }))
}

function isExported (node: ts.HasModifiers): boolean {
  return ts.getModifiers(node)?.some(modifier => modifier.kind === ts.SyntaxKind.ExportKeyword) ?? false
}

function isDocumented (node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).some(doc => ts.isJSDoc(doc) && (ts.getTextOfJSDocComment(doc.comment) ?? '').trim() !== '')
}

function parse ({ path, text }: SourceFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
}
