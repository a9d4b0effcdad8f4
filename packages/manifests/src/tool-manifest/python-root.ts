import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ModuleFault, moduleName } from './module-name.ts'

interface FoundModule {
  /** Absolute path of the directory that it is imported from. */
  root: string
  /** As the manifest wrote it, or with `tools.` in front. */
  module: string
  /** Absolute path of its source, or of a compiled module. */
  file: string
}

/** Looks for the modules of one manifest; remembers which directories are there. */
export interface ModuleFinder {
  /** @throws ModuleFault when nothing on disk is the module. */
  find (module: string, pythonRoot: string | undefined): Promise<FoundModule>
}

const sticky = 0o1000
const writableByOthers = 0o002

/**
 * A finder of modules, without running Python.
 *
 * The root is `python_root`, or the nearest directory from the manifest's own upwards that has the module. A directory
 * that all users of a machine share, such as `/tmp`, is none: anyone could put a module there. What isn't found
 * is looked for once more as `tools.<module>`, as the original program does.
 *
 * @param directory absolute path of the directory that holds the manifest.
 */
export function createModuleFinder (directory: string): ModuleFinder {
  const roots = remembered(() => ancestorsOf(directory))
  const tops = new Map<string, Promise<string[]>>()
  const namesIn = async (root: string): Promise<string[]> => {
    const names = tops.get(root) ?? readdir(root).catch((): string[] => [])
    tops.set(root, names)
    return await names
  }
  return {
    find: async (module, pythonRoot) => {
      const name = moduleName(module)
      const places = pythonRoot === undefined ? await roots() : [resolve(directory, pythonRoot)]
      const writings = [module, `tools.${name}`]
      for (const written of writings) {
        for (const root of places) {
          const file = await moduleFile(root, moduleName(written), namesIn)
          if (file !== undefined) return { root, module: written, file }
        }
      }
      const where = pythonRoot === undefined ? 'the directory of the manifest, nor in one above it' : places[0]
      const missing = writings.flatMap(written => places.flatMap(root => sourcesOf(join(root, ...moduleName(written).split('.')))))
      throw new ModuleFault(`no module named ${JSON.stringify(name)} in ${where}`, missing)
    }
  }
}

async function moduleFile (root: string, name: string, namesIn: (root: string) => Promise<string[]>): Promise<string | undefined> {
  const [top = '', ...rest] = name.split('.')
  // Most directories lack the first part, which one look per directory tells for all modules.
  if (!(await namesIn(root)).some(entry => entry === top || entry.startsWith(`${top}.`))) return undefined
  const path = join(root, top, ...rest)
  for (const file of sourcesOf(path)) {
    if (await stat(file).then(found => found.isFile(), () => false)) return file
  }
  const siblings = rest.length === 0 ? await namesIn(root) : await readdir(dirname(path)).catch((): string[] => [])
  const leaf = rest.at(-1) ?? top
  const compiled = siblings.find(entry => entry.startsWith(`${leaf}.`) && /\.(?:so|pyd)$/.test(entry))
  return compiled === undefined ? undefined : join(dirname(path), compiled)
}

/** A package comes before a module of its name, as for Python. */
function sourcesOf (path: string): string[] {
  return [join(path, '__init__.py'), `${path}.py`]
}

async function ancestorsOf (directory: string): Promise<string[]> {
  const roots = [directory]
  for (let at = dirname(directory); at !== dirname(at); at = dirname(at)) {
    const { mode } = await stat(at).catch(() => ({ mode: sticky | writableByOthers }))
    if ((mode & sticky) === 0 || (mode & writableByOthers) === 0) roots.push(at)
  }
  return roots
}

function remembered<T> (make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return async () => await (made ??= make())
}
