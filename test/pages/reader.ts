import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ToolList } from '@toolyard/contract'
import { toolyardProgram } from '../cli/toolyard.ts'
import { repoRoot } from '../repo/source-tree.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'
import { followed, runCommand, type Snippet } from '../support/page-commands.ts'
import { createService, testKeys, type Service } from '../support/service.ts'

/** Somebody who follows pages: a directory as `toolyard init` makes it, and a service that serves its tools and the samples. */
export interface Reader {
  /** Takes up a page: the manifests are what they were at first. */
  begin: () => Promise<void>
  /** Does what a block says, and gives the exit status and what was printed. */
  follow: (snippet: Snippet) => Promise<{ status: number | null, output: string }>
}

interface Manifest { tools?: Array<{ name: string, enabled?: boolean }> }

const samples = join(repoRoot, 'samples')
/** A manifest needs a tool: this one is a sample's, which stays as it is. */
const firstManifest = JSON.stringify({ schema_version: '1.0', metadata: { name: 'none', description: 'None yet' }, tools: [{ name: 'git_status', enabled: true }] })

/** Starts the service, with an address of a model that the loops of the pages ask. */
export async function startReader (t: Cleanup, modelAddress: string): Promise<Reader> {
  const service = await createService(t, {
    files: {
      ...await filesOf(join(repoRoot, 'apps/cli/templates')),
      ...await filesOf(join(samples, 'workspace'), 'workspace/'),
      'tool_manifest.json': firstManifest,
      'skills/.keep': ''
    },
    env: {
      TOOL_MANIFESTS: ['tools.json', 'tool_manifest.json', 'skills'].map(path => join(samples, path)).concat('tools.json', 'tool_manifest.json', 'skills').join(','),
      CALLBACK_SECRET: 'a secret of these tests',
      CALLBACK_ALLOWLIST: 'hooks.example.com',
      TOOL_DEFAULT_PERMISSIONS: 'read_repo'
    }
  })
  await writeFile(join(service.dir, '.env'), `API_KEY=${testKeys.admin}\nTOOLYARD_API_KEY=${testKeys.admin}\nTOOL_MANIFESTS=tools.json\n`)
  await linkPackages(join(service.dir, 'node_modules'))
  const env = {
    HOME: service.dir,
    PATH: `${join(repoRoot, 'node_modules/.bin')}:${process.env['PATH']}`,
    PYTHONPATH: join(repoRoot, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
    TOOLYARD_URL: service.api.address,
    TOOLYARD_API_KEY: testKeys.admin,
    OPENAI_BASE_URL: `${modelAddress}/v1`,
    OPENAI_API_KEY: 'none',
    ANTHROPIC_BASE_URL: modelAddress,
    ANTHROPIC_API_KEY: 'none'
  }
  return {
    begin: async () => {
      await rm(join(service.dir, '.variables'), { force: true })
      await copyFile(join(repoRoot, 'apps/cli/templates/tools.json'), join(service.dir, 'tools.json'))
      await writeFile(join(service.dir, 'tool_manifest.json'), firstManifest)
    },
    follow: async snippet => {
      if (snippet.file !== undefined) return await write(snippet, service)
      const command = commandOf(snippet).replaceAll('http://127.0.0.1:3001', service.api.address)
      return await runCommand(`set -a\n[ ! -f .variables ] || . ./.variables\n${command}\nexport -p > .variables`, env, service.dir)
    }
  }
}

/** Writes a file; where it is a manifest of the service, its tools are waited for. */
async function write (snippet: Snippet, service: Service): Promise<{ status: number, output: string }> {
  const { file = '' } = snippet
  const path = join(service.dir, file)
  const text = followed(snippet, () => readFileSync(path, 'utf8'))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  if (file.startsWith('tools/bin/')) await chmod(path, 0o755)
  const manifest = file.endsWith('.json') ? JSON.parse(text) as Manifest | NonNullable<Manifest['tools']> : {}
  const { tools = [] } = Array.isArray(manifest) ? { tools: manifest } : manifest
  if (!/^(?:tools|tool_manifest|skills\/\w+\/tools)\.json$/.test(file)) return { status: 0, output: '' }
  await waitFor(`the tools of ${file}`, async () => {
    const { body } = await service.client.request<ToolList>('/v1/agent-tools')
    return tools.every(({ name }) => body.tools.some(tool => tool.function.name === name))
  }, 20_000)
  return { status: 0, output: '' }
}

/** A shell command that runs a block; nobody waits for `npx` to find out that the program is in the directory. */
function commandOf ({ language, text }: Snippet): string {
  if (language === 'sh') return `npx () { "$@"; }\ntoolyard () { '${process.execPath}' '${toolyardProgram}' "$@"; }\n${text}`
  const [file, program] = language === 'js' ? ['snippet.mjs', 'node'] : ['snippet.py', 'python3']
  return `cat > ${file} <<'END OF BLOCK'\n${text}END OF BLOCK\n${program} ${file}`
}

async function filesOf (directory: string, below = ''): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files: Record<string, string> = {}
  for (const entry of entries.filter(each => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files[`${below}${path.slice(directory.length + 1)}`] = await readFile(path, 'utf8')
  }
  return files
}

/** As `npm install` would, from this checkout. */
async function linkPackages (to: string): Promise<void> {
  for (const from of [join(repoRoot, 'examples/node_modules'), join(repoRoot, 'node_modules')]) {
    for (const name of await readdir(from)) {
      const names = name.startsWith('@') ? (await readdir(join(from, name))).map(each => `${name}/${each}`) : [name]
      for (const each of names.filter(one => !existsSync(join(to, one)))) {
        await mkdir(dirname(join(to, each)), { recursive: true })
        await symlink(join(from, each), join(to, each))
      }
    }
  }
}
