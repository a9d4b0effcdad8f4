import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'
import { everything } from '../runner/suites.ts'
import { readStages } from './dockerfile.ts'

interface Step { uses?: string, run?: string }
interface Job { needs?: string, environment?: string, permissions?: Record<string, string>, strategy?: { matrix: Record<string, unknown[]> }, steps: Step[], 'timeout-minutes'?: number }
interface Workflow { permissions?: Record<string, string>, jobs: Record<string, Job> }

const directory = join(repoRoot, '.github/workflows')
const names = readdirSync(directory)
const texts = new Map(names.map(name => [name, readFileSync(join(directory, name), 'utf8')]))
const workflowOf = (name: string): Workflow => parse(texts.get(name) ?? '') as Workflow
const stepsOf = (workflow: Workflow): Step[] => Object.values(workflow.jobs).flatMap(({ steps }) => steps)
const { scripts, version } = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8')) as { scripts: Record<string, string>, version: string }

/** Known by GitHub, and used in part by workflows here: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax */
const known = {
  workflow: ['name', 'on', 'permissions', 'concurrency', 'jobs'],
  job: ['needs', 'if', 'runs-on', 'environment', 'permissions', 'strategy', 'steps', 'timeout-minutes'],
  step: ['name', 'if', 'uses', 'with', 'run', 'env']
}
const contexts = ['github.ref', 'github.event_name', 'github.actor', 'github.repository_owner', 'github.ref_name', 'secrets.GITHUB_TOKEN']

t.test('workflows have only fields that GitHub knows, and jobs and values that exist', async t => {
  const strangers = (value: object, fields: string[]): string[] => Object.keys(value).filter(name => !fields.includes(name))
  for (const [name, text] of texts) {
    const workflow = workflowOf(name)
    t.strictSame(strangers(workflow, known.workflow), [], name)
    for (const [id, job] of Object.entries(workflow.jobs)) {
      t.strictSame(strangers(job, known.job), [], `${name}: ${id}`)
      for (const step of job.steps) {
        t.strictSame(strangers(step, known.step), [], `${name}: ${id}`)
        t.not(step.uses === undefined, step.run === undefined, `${name}: ${id} has steps that either use or run something`)
      }
      if (job.needs !== undefined) t.ok(Object.hasOwn(workflow.jobs, job.needs), `${name}: ${id} needs ${job.needs}`)
      const own = Object.keys(job.strategy?.matrix ?? {}).map(field => `matrix.${field}`)
      const used = [...JSON.stringify(job).matchAll(/\$\{\{ (.*?) \}\}/g)].flatMap(([, expression = '']) => expression.match(/\b(?:github|secrets|matrix)\.\w+/g) ?? [])
      for (const value of used) t.ok([...contexts, ...own].includes(value), `${name}: ${id} reads ${value}`)
    }
    t.notMatch(text, /\$\{\{(?! )|[^ ]\}\}/, 'expressions have spaces around them')
  }
})

t.test('CI has a job for each suite, and runs npm test on each release line of Node.js that is supported', async t => {
  const { jobs } = workflowOf('ci.yml')
  t.strictSame([...jobs['suite']?.strategy?.matrix['suite'] ?? []].sort(), [...everything].sort())
  t.strictSame(jobs['node']?.strategy?.matrix['node'], [20, 22, 24])
})

t.test('actions of others are named by a commit, with their version beside it', async t => {
  for (const [name, text] of texts) {
    const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
    t.not(used.length, 0, name)
    for (const action of used) t.match(action, /^[\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+(?:\.\d+\.\d+)?$/, name)
  }
})

t.test('the token of a workflow may only read, and a job that may do more says so; each has a time limit', async t => {
  for (const name of names) {
    const { permissions, jobs } = workflowOf(name)
    t.strictSame(permissions, { contents: 'read' }, name)
    for (const [job, { 'timeout-minutes': minutes }] of Object.entries(jobs)) t.type(minutes, 'number', `${name}: ${job}`)
  }
  const { jobs } = workflowOf('release.yml')
  t.strictSame(Object.entries(jobs).filter(([, job]) => job.permissions?.['id-token'] === 'write').map(([name]) => name), ['npm', 'wheel', 'images'])
  t.strictSame(Object.entries(jobs).filter(([, job]) => job.permissions?.['packages'] === 'write').map(([name]) => name), ['images'])
})

t.test('what workflows run are scripts of package.json, and the images are stages of the Dockerfile', async t => {
  const run = names.flatMap(name => stepsOf(workflowOf(name))).flatMap(({ run = '' }) => [...run.matchAll(/npm (?:run )?(\w[\w:]*)/g)].map(([, script = '']) => script))
  for (const script of run.filter(script => !['ci', 'publish'].includes(script))) t.ok(Object.hasOwn(scripts, script), script)
  const { jobs } = workflowOf('release.yml')
  const stages = readStages().map(({ name }) => name)
  for (const target of jobs['images']?.strategy?.matrix['target'] ?? []) t.ok(stages.includes(String(target)), String(target))
})

t.test('what is published was packed by one job that passed the checks, and npm packages carry their provenance', async t => {
  const { jobs } = workflowOf('release.yml')
  t.strictSame(Object.entries(jobs).filter(([, { needs }]) => needs === undefined).map(([name]) => name), ['pack'])
  const packed = (jobs['pack']?.steps ?? []).map(({ run = '' }) => run)
  t.ok(packed.findIndex(run => run === 'npm run check') < packed.findIndex(run => run === 'npm run pack'))
  t.match(packed.join('\n'), 'test "$GITHUB_REF_NAME" = "v$(node -p "require(\'./package.json\').version")"')
  t.match(version, /^\d+\.\d+\.\d+$/)
  t.match((jobs['npm']?.steps ?? []).map(({ run = '' }) => run).join('\n'), /npm publish .*--provenance/)
  t.notMatch([...texts.values()].join('\n'), /NPM_TOKEN|NODE_AUTH_TOKEN|PYPI_TOKEN/, 'no token is stored')
})
