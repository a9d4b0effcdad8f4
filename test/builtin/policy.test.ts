import { loadRegistry, type BuiltinPolicy } from '@toolyard/manifests'
import { builtinSettingsOf, readSettings } from '@toolyard/runtime'
import t from 'tap'

const always = ['data_file_read', 'tools_file_search', 'data_write_file', 'tools_find_in_files', 'workflow_run', 'workspace_list', 'workspace_stat', 'workspace_move', 'job_result', 'job_cancel', 'output_read', 'output_search', 'search_tools', 'call_tool']

async function published (policy?: BuiltinPolicy): Promise<string[]> {
  const registry = await loadRegistry({ manifests: [], ...policy === undefined ? {} : { policy } })
  return registry.published().map(({ tool }) => tool.name)
}

t.test('RC31 R11 without flags, only tools that stay in the workspace are listed', async t => {
  t.same(await published(), always)
  t.same(await published(builtinSettingsOf(readSettings({}))), always)
})

t.test('RC31 R11 each flag lists its tool', async t => {
  for (const [flag, name] of [['TOOL_EXEC_ENABLED', 'tool_exec'], ['DATA_FETCH_ENABLED', 'data_fetch'], ['WEB_SEARCH_ENABLED', 'tools_web_search'], ['WORKSPACE_DELETE_ENABLED', 'workspace_delete']] as const) {
    for (const on of ['1', 'true', 'yes', 'on']) t.same(await published(builtinSettingsOf(readSettings({ [flag]: on }))), [...always, name], `${flag}=${on}`)
  }
})

t.test('X22 R10 R32 a tool whose policy is off is known as disabled', async t => {
  const registry = await loadRegistry({ manifests: [] })
  for (const [name, jobType] of [['tool_exec', 'tool.exec'], ['data_fetch', 'data.fetch'], ['tools_web_search', 'tools.web_search'], ['workspace_delete', 'workspace.delete']] as const) {
    t.match(registry.get(name)?.tool, { enabled: false, jobType })
  }
})

t.test('RC30 job types and their timeouts', async t => {
  const registry = await loadRegistry({ manifests: [] })
  const timeouts = Object.fromEntries(registry.all().map(({ tool }) => [tool.jobType, tool.timeoutSec]))
  t.match(timeouts, { 'data.file_read': 30, 'data.write_file': 45, 'tools.file_search': 45, 'tools.find_in_files': 60, 'data.fetch': 60, 'tool.exec': 120, 'tools.web_search': 60 })
})

t.test('R12 R9 the worker itself runs every built-in tool, except those that ask for jobs, outputs and tools', async t => {
  const registry = await loadRegistry({ manifests: [] })
  for (const { tool } of registry.all()) t.equal(tool.run.kind, /^(?:job|output|search|call)_/.test(tool.name) ? 'service' : 'builtin', tool.name)
})

t.test('tools say which permissions they have, and only those that change nothing are run again', async t => {
  const registry = await loadRegistry({ manifests: [] })
  const holding = (permission: string): string[] =>
    registry.all().filter(({ tool }) => tool.permissions?.some(each => each === permission)).map(({ tool }) => tool.name)
  t.same(holding('write_files'), ['data_write_file', 'workspace_move', 'workspace_delete', 'tool_exec'])
  t.same(holding('network'), ['data_fetch', 'tools_web_search'])
  t.same(registry.all().filter(({ tool }) => !tool.idempotent).map(({ tool }) => tool.name).sort(), ['call_tool', 'data_write_file', 'tool_exec', 'workspace_delete', 'workspace_move'])
})

t.test('models are told what is allowed', async t => {
  const registry = await loadRegistry({ manifests: [], policy: { exec: { allowlist: ['node', '/usr/bin/make'] }, fetch: { allowlist: ['example.com'] } } })
  t.match(registry.get('tool_exec')?.tool.description, /node, \/usr\/bin\/make/)
  t.match(registry.get('data_fetch')?.tool.description, /example\.com/)
  t.ok(registry.all().every(({ tool }) => tool.description.length < 900))
})

t.test('the search provider is the one that is configured', async t => {
  const provider = (env: Record<string, string>): unknown => builtinSettingsOf(readSettings({ WEB_SEARCH_ENABLED: '1', ...env })).webSearch?.provider
  const [brave, searxng] = [{ WEB_SEARCH_BRAVE_KEY: 'k' }, { WEB_SEARCH_SEARXNG_URL: 'http://search.test' }]
  t.same([provider({}), provider(brave), provider(searxng), provider({ ...brave, ...searxng })], ['duckduckgo', 'brave', 'searxng', 'searxng'])
})
