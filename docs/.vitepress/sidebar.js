import { readdirSync, readFileSync } from 'node:fs'

/**
 * The pages of the site, by what a reader wants to do. A page that no group names is in the group More.
 *
 * @param {string} root of the repository
 */
export function sidebarOf (root) {
  const decisions = readdirSync(`${root}/docs/decisions`).filter(name => /^\d/.test(name)).sort()
  const groups = [
    group('Start', { 'README.md': 'What it is', 'docs/start.md': 'Five minutes', 'ARCHITECTURE.md': 'How it works' }),
    group('Write tools', {
      'docs/tools.md': 'Kinds, permissions, limits',
      'docs/one-project.md': 'One project with all kinds',
      'docs/command-tools.md': 'Commands in any language',
      'docs/python-tools.md': 'Python',
      'docs/skills.md': 'Skills',
      'docs/http-entries.md': 'HTTP APIs as tools',
      'docs/mcp-servers.md': 'MCP servers as tools',
      'docs/coming-from/commands.md': 'Coming from commands',
      'docs/coming-from/skills.md': 'Coming from skills',
      'docs/coming-from/python-tools.md': 'Coming from Python tools'
    }),
    group('Call from agents', {
      'docs/loops.md': 'Loops: providers, LangChain, Python',
      'docs/batches.md': 'A batch and its answer',
      'docs/agents.md': "Providers' messages",
      'docs/catalogues.md': 'Thousands of tools',
      'docs/clients.md': 'Clients',
      'docs/mcp.md': 'MCP',
      'docs/http-tools.md': 'Plain HTTP',
      'docs/openapi.md': 'OpenAPI'
    }),
    group('Long work', { 'docs/jobs.md': 'Jobs, streams, workflows', 'docs/approvals.md': 'Approvals and rules', 'docs/callbacks.md': 'Callbacks', 'docs/coming-from/job-api.md': 'Coming from a job API' }),
    group('Many users', { 'docs/tenants.md': 'Tenants and keys', 'docs/sessions.md': 'Sessions', 'docs/files.md': 'Files' }),
    group('Operate', {
      'docs/operations.md': 'Deploy',
      'docs/operations.md#sizing': 'Size',
      'docs/operations.md#upgrading': 'Upgrade',
      'docs/operations.md#backups': 'Back up',
      'docs/operations.md#what-to-watch': 'Watch',
      'docs/console.md': 'Console and dashboard',
      'docs/redis.md': 'Redis',
      'docs/traces.md': 'Traces',
      'CHANGELOG.md': 'Changes'
    }),
    group('Security', { 'docs/security.md': 'What is protected', 'docs/egress.md': 'Networks by name', 'docs/secrets.md': 'Secrets of tools', 'SECURITY.md': 'Reporting' }),
    group('Performance', { 'docs/performance.md': 'Method and numbers' }),
    group('Reference', {
      'docs/reference/settings.md': 'Settings',
      'docs/errors.md': 'Errors',
      'docs/what-went-wrong.md': 'What went wrong',
      'docs/reference/routes.md': 'Routes',
      'docs/command-line.md': 'The command line',
      'docs/reference/commands.md': 'Commands',
      'docs/conformance.md': 'Rules, their tests and sources'
    }),
    {
      text: 'Decisions',
      collapsed: true,
      items: [item('docs/decisions/README.md', 'All'), ...decisions.map(name => item(`docs/decisions/${name}`, titleOf(`${root}/docs/decisions/${name}`)))]
    }
  ]
  const named = new Set(groups.flatMap(({ items }) => items.map(({ link }) => link)))
  const rest = readdirSync(`${root}/docs`).filter(name => name.endsWith('.md') && !named.has(item(`docs/${name}`, '').link))
  if (rest.length > 0) groups.push({ text: 'More', items: rest.map(name => item(`docs/${name}`, titleOf(`${root}/docs/${name}`))) })
  return groups
}

/**
 * @param {string} text
 * @param {Record<string, string>} pages
 */
function group (text, pages) {
  return { text, items: Object.entries(pages).map(([page, title]) => item(page, title)) }
}

/**
 * @param {string} page
 * @param {string} text
 */
function item (page, text) {
  return { text, link: `/${page.replace(/^README\.md/, 'index.md').replace(/\.md(?=$|#)/, '')}` }
}

/** @param {string} page */
function titleOf (page) {
  return /^# (.*)$/m.exec(readFileSync(page, 'utf8'))?.[1] ?? page
}
