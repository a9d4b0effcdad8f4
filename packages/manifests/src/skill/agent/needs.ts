import { opendir } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { readFileBytes } from '../../document/manifest-file.ts'
import { createPause } from '../../document/pause.ts'
import type { Skill } from '../../layer/skill.ts'

/** Programs that the scripts of a skill, and the commands in its text, need of a machine: by their names. */
export interface SkillNeeds {
  programs: string[]
  /** Modules of Python, as they are imported. */
  python: string[]
  node: string[]
  /** Scripts whose lines end in CR LF, which neither a shell nor the kernel takes in a first line. */
  crlf: string[]
}

/** Files that are looked through, their bytes, and names of each kind that are told. */
const most = { files: 500, bytes: 262_144, levels: 8, names: 100 }
/** Programs that skills start, also from their scripts. Of others only a first line says that they are programs. */
const wellKnown = new Set([
  'pandoc', 'soffice', 'libreoffice', 'pdftotext', 'pdftoppm', 'pdfimages', 'pdfinfo', 'qpdf', 'pdftk', 'tesseract', 'gs', 'convert', 'magick',
  'ffmpeg', 'ffprobe', 'exiftool', 'dot', 'git', 'gh', 'curl', 'wget', 'jq', 'rg', 'unzip', 'zip', 'node', 'npm', 'npx', 'pnpm', 'yarn', 'python3', 'python', 'pip',
  'gcc', 'make', 'docker', 'sqlite3', 'psql', 'chromium', 'latexmk', 'xelatex', 'pdflatex', 'ruby', 'perl', 'php', 'go', 'cargo', 'java', 'deno', 'bun', 'uv'
])
const pythonImport = /^[ \t]*(?:import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)|from[ \t]+(\w[\w.]*)[ \t]+import\b)/gm
const nodeImport = /\b(?:require\(\s*|from\s+|import\s+)['"]([^'"./][^'"]*)['"]/g
const shells = new Set(['sh', 'bash', 'shell', 'zsh', 'console'])
const pythons = new Set(['python', 'python3', 'py'])

/** Looks through a skill without running anything of it. */
export async function skillNeeds ({ file, text }: Skill): Promise<SkillNeeds> {
  const directory = dirname(file)
  const programs = new Set<string>()
  const python = new Set<string>()
  const node = new Set<string>()
  const crlf = new Set<string>()
  const own = new Set<string>()
  const packages = new Set<string>()
  /** Modules by the directories that they are in, and imports by those that they are made in. */
  const modules = new Map<string, Set<string>>()
  const imports: Array<{ name: string, from: string }> = []
  const pause = createPause()
  for (const path of await filesBelow(directory, { left: most.files })) {
    await pause()
    const kind = extname(path).toLowerCase()
    if (kind === '.py') {
      const name = basename(path, kind)
      if (name === '__init__') packages.add(dirname(path))
      modules.set(name, (modules.get(name) ?? new Set()).add(dirname(path)))
      // Directories need no file of their own to be packages.
      for (const name of relative(directory, dirname(path)).split(sep)) own.add(name)
    }
    if (!['.py', '.sh', '.bash', '.js', '.mjs', '.cjs', '.ts', ''].includes(kind)) continue
    const source = await sourceOf(path)
    if (source === undefined) continue
    for (const name of shebang(source)) programs.add(name)
    if ((source.startsWith('#!') || ['.sh', '.bash'].includes(kind)) && /^[^\n]*\r\n/.test(source)) crlf.add(relative(directory, path))
    if (kind === '.py') {
      programs.add('python3')
      for (const name of pythonModules(source)) imports.push({ name, from: dirname(path) })
    }
    if (['.js', '.mjs', '.cjs'].includes(kind)) {
      programs.add('node')
      for (const [, name = ''] of source.matchAll(nodeImport)) if (!name.startsWith('node:')) node.add(packageOf(name))
    }
    if (kind === '.sh' || kind === '.bash') for (const [name = ''] of commandsIn(source)) programs.add(name)
    for (const [, name = ''] of source.matchAll(/['"]([a-z][a-z0-9]{1,15})['"]/g)) if (wellKnown.has(name)) programs.add(name)
  }
  for (const words of blocksOf(text, shells).flatMap(commandsIn)) {
    const [name = '', option, module = ''] = words
    programs.add(name)
    if (name.startsWith('python') && option === '-m') python.add(module)
  }
  for (const block of blocksOf(text, pythons)) for (const name of pythonModules(block)) imports.push({ name, from: directory })
  for (const [, names = ''] of text.matchAll(/\bnpm (?:install|i) (?:-g|--global) ((?:[@\w][\w@/.-]* ?){1,20})/g)) for (const name of names.trim().split(' ')) node.add(name.replace(/(?<=.)@.*$/, ''))
  for (const { name, from } of imports) {
    // A module in a package has another name everywhere else.
    const isModule = [...modules.get(name) ?? []].some(place => place === from || !packages.has(place))
    if (!isModule && !own.has(name)) python.add(name)
  }
  return { programs: listed(programs), python: listed(python), node: listed(node), crlf: listed(crlf) }
}

function listed (names: ReadonlySet<string>): string[] {
  return [...names].sort().slice(0, most.names)
}

/** Hidden files and links are left out. */
async function filesBelow (directory: string, count: { left: number }, level = 1): Promise<string[]> {
  const files: string[] = []
  if (level > most.levels) return files
  try {
    for await (const entry of await opendir(directory)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) files.push(...await filesBelow(path, count, level + 1))
      else if (entry.isFile()) {
        count.left -= 1
        if (count.left < 0) return files
        files.push(path)
      }
    }
  } catch {
    // A file that can't be read now has no needs that could be told.
  }
  return files
}

async function sourceOf (path: string): Promise<string | undefined> {
  const source = (await readFileBytes(path, most.bytes).catch(() => undefined))?.toString('latin1')
  return source === undefined || source.includes('\0') ? undefined : source
}

function shebang (source: string): string[] {
  const [, line = ''] = /^#!([^\n]{1,200})/.exec(source) ?? []
  const [first = '', ...rest] = line.trim().split(/\s+/).map(word => basename(word))
  const program = first === 'env' ? rest.find(word => !word.startsWith('-')) : first
  return program === undefined || program === '' ? [] : [program]
}

function pythonModules (source: string): string[] {
  // A text in a program is often an example of how to use it.
  return [...source.replace(/("""|''')[^]*?\1/g, '""').matchAll(pythonImport)].flatMap(([, list, from]) => (
    from === undefined ? (list ?? '').split(',').map(each => each.trim().split(/[\s.]/)[0] ?? '') : [from.split('.')[0] ?? '']
  )).filter(name => name !== '' && !name.startsWith('_'))
}

function packageOf (name: string): string {
  return name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/')
}

/** The words of the lines that begin with a program that is well known. */
function commandsIn (source: string): string[][] {
  return source.split('\n').map(line => line.trim().replace(/^\$\s+/, '').split(/\s+/)).filter(([word = '']) => wellKnown.has(word))
}

function blocksOf (text: string, languages: ReadonlySet<string>): string[] {
  const found: string[] = []
  let block: { language: string, lines: string[] } | undefined
  for (const line of text.split('\n')) {
    const [, fence] = /^\s*```(\w*)/.exec(line) ?? []
    if (fence === undefined) {
      block?.lines.push(line)
    } else if (block === undefined) {
      block = { language: fence.toLowerCase(), lines: [] }
    } else {
      if (languages.has(block.language)) found.push(block.lines.join('\n'))
      block = undefined
    }
  }
  return found
}
