import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'
import { readCompose } from './compose.ts'
import { knownMetrics, strangersIn } from './known-metrics.ts'

interface Rule { alert: string, expr: string, labels: { severity: string }, annotations: { summary: string, runbook_url: string } }
interface RuleTest { eval_time: string, alertname: string, exp_alerts?: object[] }
interface Panel {
  id: number
  title: string
  gridPos: Record<'h' | 'w' | 'x' | 'y', number>
  targets?: Array<{ refId: string, expr: string, legendFormat: string, datasource: object }>
}
interface Dashboard { uid: string, panels: Panel[], templating: { list: Array<{ name: string, query: string | { query: string } }> } }

const read = (path: string): string => readFileSync(join(repoRoot, 'deploy', path), 'utf8')
const known = knownMetrics()
const rules = (parse(read('prometheus/toolyard.rules.yml')) as { groups: Array<{ rules: Rule[] }> }).groups.flatMap(group => group.rules)
const tests = (parse(read('prometheus/toolyard.rules.test.yml')) as { tests: Array<{ alert_rule_test: RuleTest[] }> }).tests
interface Scrape { job_name: string, dns_sd_configs: Array<{ names: string[], port: number }> }
const scrapes = (parse(read('prometheus/prometheus.yml')) as { scrape_configs: Scrape[] }).scrape_configs
const dashboard = JSON.parse(read('grafana/dashboards/toolyard.json')) as Dashboard
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })))
const { api, worker, prometheus, grafana } = readCompose().services

t.test('every metric, label and job of the alert rules exists', async t => {
  for (const { alert, expr, annotations } of rules) {
    t.strictSame(strangersIn(expr, known), [], alert)
    for (const [, job = ''] of expr.matchAll(/\bjob=~?"([^"]*)"/g)) t.ok(scrapes.some(({ job_name: name }) => new RegExp(`^(${job})$`).test(name)), `${alert}: ${job}`)
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      t.ok(['job', 'instance'].includes(label) || [...known].some(([name, labels]) => expr.includes(name) && labels.includes(label)), `${alert}: ${label}`)
    }
  }
})

t.test('each alert has a test in which it fires and one in which it does not, and a severity', async t => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  const cases = tests.flatMap(({ alert_rule_test: list }) => list)
  for (const { alert, labels } of rules) {
    t.match(labels.severity, /^(critical|warning)$/)
    t.ok(cases.some(({ alertname, exp_alerts: alerts = [] }) => alertname === alert && alerts.length > 0), `${alert} fires`)
    t.ok(cases.some(({ alertname, exp_alerts: alerts = [] }) => alertname === alert && alerts.length === 0), `${alert} does not`)
  }
})

t.test('each alert leads to its part of docs/what-went-wrong.md, and each part is of an alert', async t => {
  const [, ofAlerts = ''] = readFileSync(join(repoRoot, 'docs/what-went-wrong.md'), 'utf8').split(/^## An alert$/m)
  const parts = new Map(ofAlerts.split(/^### /m).slice(1).map(part => [part.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') ?? '', part]))
  const page = 'https://github.com/toolyard/toolyard/blob/main/docs/what-went-wrong.md#'
  for (const { alert, annotations: { runbook_url: url } } of rules) {
    t.ok(url.startsWith(page), url)
    t.match(parts.get(url.slice(page.length)), `\`${alert}\``, url)
  }
  const named = [...ofAlerts.matchAll(/`(Toolyard\w+)`/g)].map(([, name]) => name)
  t.strictSame(named.sort(), rules.map(({ alert }) => alert).sort())
})

t.test('docs/operations.md describes every alert rule, and no other', async t => {
  const [, table = ''] = readFileSync(join(repoRoot, 'docs/operations.md'), 'utf8').split('| alert | when |')
  const named = [...(table.split('\n\n')[0] ?? '').matchAll(/`(Toolyard\w+)`/g)].map(([, name]) => name)
  t.strictSame([...named].sort(), rules.map(({ alert }) => alert).sort())
})

t.test('every metric and label of the dashboard is one that processes report, and no two panels overlap', async t => {
  t.ok(queries.length > 25)
  for (const { title, expr, legendFormat } of queries) {
    t.strictSame(strangersIn(expr, known), [], title)
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) t.ok(expr.includes(label) || ['job', 'instance'].includes(label), `${title}: ${label}`)
    const variables = [...expr.matchAll(/\$(\w+)/g)]
    for (const [, name = ''] of variables) t.ok(name === '__rate_interval' || dashboard.templating.list.some(each => each.name === name), `${title}: ${name}`)
  }
  for (const { query } of dashboard.templating.list) {
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(typeof query === 'string' ? query : query.query) ?? []
    t.ok(query === 'prometheus' || known.get(metric)?.includes(label))
  }
  const { panels } = dashboard
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const [index, { gridPos: a, title }] of panels.entries()) {
    t.ok(a.x + a.w <= 24, title)
    const over = panels.slice(index + 1).filter(({ gridPos: b }) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
    t.strictSame(over.map(panel => panel.title), [], `nothing lies over ${title}`)
  }
})

t.test('Prometheus finds the replicas by name and port, and Grafana finds Prometheus and the dashboard', async t => {
  for (const [name, service] of Object.entries({ api, worker })) {
    const target = scrapes.find(({ job_name: job }) => job === `toolyard-${name}`)?.dns_sd_configs[0]
    t.match(target, { names: [name], port: Number(service.environment?.['METRICS_PORT']) })
    t.ok(service.networks.some(network => prometheus.networks.includes(network)), name)
  }
  t.notOk(prometheus.networks.includes('queue'), 'and Prometheus does not reach Redis')
  const places = new Map([...prometheus.volumes ?? [], ...grafana.volumes ?? []].map(volume => [volume.split(':')[1], volume.split(':')[0]]))
  t.ok(prometheus.command?.includes('--config.file=/etc/prometheus/prometheus.yml'))
  for (const path of ['/etc/prometheus/prometheus.yml', '/etc/prometheus/toolyard.rules.yml', '/etc/grafana/provisioning', '/etc/grafana/dashboards']) t.ok(places.has(path), path)
  const [source] = (parse(read('grafana/provisioning/datasources/prometheus.yml')) as { datasources: Array<{ url: string }> }).datasources
  t.equal(source?.url, 'http://prometheus:9090')
  t.match(read('grafana/provisioning/dashboards/toolyard.yml'), 'path: /etc/grafana/dashboards')
  t.match(grafana.environment, { GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer', GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true', GF_ANALYTICS_REPORTING_ENABLED: 'false' })
})

t.test('only the profile observe starts Prometheus and Grafana', async t => {
  for (const [name, { profiles }] of Object.entries(readCompose().services)) t.strictSame(profiles, ['prometheus', 'grafana'].includes(name) ? ['observe'] : undefined, name)
})

const promtool = (process.env['PATH'] ?? '').split(':').map(place => join(place, 'promtool')).find(existsSync)
const missing = promtool === undefined ? 'there is no promtool on the PATH (Debian: apt-get install prometheus)' : false

t.test('promtool accepts configuration, rules and queries, and the tests of the rules pass; a changed rule fails them', { skip: missing }, async t => {
  const dir = t.testdir()
  const run = (...args: string[]): string => execFileSync(promtool ?? '', args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  cpSync(join(repoRoot, 'deploy/prometheus'), dir, { recursive: true })
  writeFileSync(join(dir, 'prometheus.yml'), read('prometheus/prometheus.yml').replace('/etc/prometheus/', `${dir}/`))
  t.match(run('check', 'config', 'prometheus.yml'), `${rules.length} rules found`)
  t.match(run('test', 'rules', 'toolyard.rules.test.yml'), 'SUCCESS')
  mkdirSync(join(dir, 'queries'))
  const recorded = queries.map(({ expr }, index) => ({ record: `query_${index}`, expr: expr.replaceAll('$__rate_interval', '1m') }))
  writeFileSync(join(dir, 'queries/rules.json'), JSON.stringify({ groups: [{ name: 'queries', rules: recorded }] }))
  t.match(run('check', 'rules', 'queries/rules.json'), `${queries.length} rules found`)
  writeFileSync(join(dir, 'toolyard.rules.yml'), read('prometheus/toolyard.rules.yml').replace('> 0.9', '> 0.8'))
  t.equal(spawnSync(promtool ?? '', ['test', 'rules', 'toolyard.rules.test.yml'], { cwd: dir }).status, 1)
})
