import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { newerNode } from '../mcp/newer-node.ts'
import { repoRoot } from '../repo/source-tree.ts'
import { createService, testKeys } from '../support/service.ts'
import { emptyDirectory } from './installation.ts'

const version = '2.12.0'
const page = readFileSync(join(repoRoot, 'docs/mcp.md'), 'utf8')
const command = /^npx @modelcontextprotocol\/inspector [\s\S]*?(?=^```$)/m.exec(page)?.[0] ?? ''
const { node, launcher } = inspector()
const here = emptyDirectory()
t.teardown(() => here.remove())

/** Runs the Inspector's command line there. */
async function inspect (line: string): Promise<{ content: Array<{ text: string }>, tools: Array<{ name: string }> }> {
  const { status, stdout, stderr } = await here.run(`'${node}' '${launcher}' ${line}`)
  if (status !== 0) throw new Error(stdout + stderr)
  return JSON.parse(stdout) as Awaited<ReturnType<typeof inspect>>
}

t.test("the Inspector's command line lists and calls tools, as docs/mcp.md shows, and over toolyard mcp", async t => {
  const { api } = await createService(t)
  const line = command.replace('npx @modelcontextprotocol/inspector ', '').replace('http://127.0.0.1:3001', api.address).replace('YOUR_KEY', testKeys.admin)
  t.match(line, '--method tools/call --tool-name data_file_read')
  t.match((await inspect(line)).content, [{ text: /# A workspace/ }])
  const listing = line.replace(/--method[\s\S]*/, '--method tools/list')
  t.ok((await inspect(listing)).tools.some(({ name }) => name === 'data_file_read'))
  const stdio = `--cli '${process.execPath}' '${resolve('apps/cli/bin/toolyard.js')}' mcp -e TOOLYARD_URL=${api.address} -e TOOLYARD_API_KEY=${testKeys.admin}`
  t.match((await inspect(`${stdio} --method tools/call --tool-name data_file_read --tool-arg path=README.md`)).content, [{ text: /# A workspace/ }])
})

/** The Inspector, installed for itself (docs/decisions/0074-mcp.md), and a Node.js that it runs on. */
function inspector (): { node: string, launcher: string } {
  const directory = resolve('node_modules/.cache', `inspector-${version}`)
  const launcher = join(directory, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  if (!existsSync(launcher)) {
    mkdirSync(directory, { recursive: true })
    const flags = ['--prefix', directory, '--no-save', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
    spawnSync('npm', ['install', ...flags, `@modelcontextprotocol/inspector@${version}`], { stdio: 'ignore' })
  }
  const node = newerNode()
  if (node === undefined || !existsSync(launcher)) throw new Error('The Inspector or its Node.js could not be installed')
  return { node: resolve(node), launcher }
}
