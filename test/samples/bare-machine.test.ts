import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { copyWorkspace, readSamples, runSample } from './sample-tool.ts'

const tools = await readSamples()
const standard = ['env', 'sh', 'awk', 'dirname', 'du', 'find', 'sort', 'stat']
const args: Record<string, object> = {
  get_time: { timezone: 'Europe/Helsinki' },
  word_count: { path: 'README.md' },
  json_query: { path: 'data/stations.json', query: '$.project' },
  csv_summary: { path: 'data/readings.csv' },
  file_hash: { path: 'README.md' },
  text_diff: { old_path: 'docs/setup-2024.txt', new_path: 'docs/setup-2026.txt' },
  disk_usage: {},
  recent_files: {}
}

for (const tool of tools) {
  const inPython = tool.command[0]?.endsWith('.py') ?? false
  t.test(`${tool.name} ${inPython ? 'cannot start' : 'works'} where there is nothing but Node and the standard commands`, async t => {
    const bin = t.testdir()
    await symlink(process.execPath, join(bin, 'node'))
    await Promise.all(standard.map(command => symlink(find(command), join(bin, command))))
    const { code, stdout, stderr } = await runSample(tool.name, args[tool.name] ?? {}, await copyWorkspace(t), bin)
    if (inPython) {
      t.equal(code, 127, 'env did not find python3')
      t.equal(stdout, '')
    } else {
      t.equal(code, 0, stderr)
      t.type(JSON.parse(stdout), Object)
    }
  })
}

function find (command: string): string {
  const file = (process.env['PATH'] ?? '').split(delimiter).map(dir => join(dir, command)).find(each => existsSync(each))
  if (file === undefined) throw new Error(`this machine has no ${command}`)
  return file
}
