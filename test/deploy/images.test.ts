import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { isIgnored, isInContext } from './build-context.ts'
import { allSteps, environmentOf, lastOf, readStages, type Step } from './dockerfile.ts'
import { strangers } from './setting-names.ts'

const stages = readStages()
const images = ['api', 'worker'] as const

/** The packages of the house that a package needs, with all that those need. */
function needs (manifest: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(repoRoot, manifest, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> }
  return Object.keys(dependencies).filter(name => name.startsWith('@toolyard/')).flatMap(name => {
    const short = name.slice('@toolyard/'.length)
    const place = ['packages', 'apps'].map(room => `${room}/${short}`).find(place => existsSync(join(repoRoot, place))) ?? short
    return [place, ...needs(place)]
  })
}

/** Copied from the build, as paths below /app. */
function built (steps: readonly Step[]): string[] {
  return steps.filter(({ keyword, flags }) => keyword === 'COPY' && flags['from'] === 'build').map(({ args }) => (args[0] ?? '').replace('/app/', ''))
}

t.test('every stage is built from an earlier stage or an image with a full version, and every copied file exists', async t => {
  for (const [index, { from, steps }] of stages.entries()) {
    const above = stages.slice(0, index).map(stage => stage.name)
    t.ok(above.includes(from) || /^node:\d+\.\d+\.\d+-[a-z]+-slim$/.test(from), `FROM ${from}`)
    for (const { flags, args, line } of steps.filter(({ keyword }) => keyword === 'COPY')) {
      const source = flags['from']
      if (source !== undefined) t.ok(above.includes(source), `line ${line}: --from=${source}`)
      else for (const path of args.slice(0, -1)) t.ok(isInContext(path), `line ${line}: ${path}`)
    }
  }
})

for (const image of images) {
  const steps = allSteps(stages, image)

  t.test(`the image of the ${image} runs as a numeric user, has a health check, passes signals on, and starts a file that exists`, async t => {
    t.equal(stages.at(image === 'api' ? -2 : -1)?.name, image, 'no stage that nothing uses')
    t.match(lastOf(steps, 'USER')?.args, ['1000:1000'], 'one user, whose the files of sessions are')
    t.strictSame(lastOf(steps, 'ENTRYPOINT')?.args, ['/usr/bin/tini', '--', 'node'])
    const [program = '', ...rest] = lastOf(steps, 'CMD')?.args ?? []
    // The bundle is the image's alone; a test of deployments starts it.
    t.ok(existsSync(join(repoRoot, program.replace('/app/', '').replace('/bundle/api.js', '/dist/server.js'))), program)
    t.ok(built(steps).some(place => program.startsWith(`/app/${place}/`)), 'and is in the image')
    t.strictSame(rest, image === 'api' ? [] : ['worker'])
    t.ok(steps.filter(({ keyword }) => ['ENTRYPOINT', 'CMD'].includes(keyword)).every(({ exec }) => exec), 'without a shell that signals would end at')
    const check = (lastOf(steps, 'HEALTHCHECK')?.args ?? []).join(' ')
    const environment = environmentOf(steps)
    t.match(check, `http://127.0.0.1:${(image === 'api' ? environment['PORT'] : environment['METRICS_PORT']) ?? ''}/health`)
    t.match(check, '/app/scripts/healthcheck.mjs')
    t.ok(isInContext('scripts/healthcheck.mjs'))
  })

  t.test(`the image of the ${image} has every package that it needs, and only settings in its environment`, async t => {
    const copied = built(steps)
    for (const place of needs(image === 'api' ? 'apps/api' : 'apps/cli')) t.ok(copied.some(each => place === each || place.startsWith(`${each}/`)), place)
    const environment = environmentOf(steps)
    t.strictSame(strangers(Object.keys(environment)), [])
    t.strictSame(Object.keys(environment).filter(name => /KEY|SECRET|PASSWORD|REDIS_URL/.test(name)), [])
    t.notOk(steps.some(({ keyword }) => keyword === 'ARG'), 'nor is anything handed to the build')
  })
}

t.test('the API image has no executors, and the worker image has the sandbox and Python', async t => {
  t.notOk(built(allSteps(stages, 'api')).some(place => place === 'packages' || place === 'packages/executors'))
  const installed = allSteps(stages, 'worker').filter(({ keyword }) => keyword === 'RUN').flatMap(({ args }) => args)
  for (const name of ['bubblewrap', 'python3', 'tini', 'ca-certificates']) t.ok(installed.includes(name), name)
})

t.test('only sources of the checkout get into the build: no secrets, history, tests or hostile samples', async t => {
  for (const path of ['.env', '.git', '.toolyard/secrets/api_keys', 'apps/api/.env', 'packages/x/.toolyard/y', 'node_modules', 'apps/cli/dist/main.js', 'packages/executors/node_modules/x', 'samples/hostile/tools.json', 'test', 'workspace', 'docs']) {
    t.ok(isIgnored(path), path)
  }
  const tops = readdirSync(repoRoot).filter(name => !isIgnored(name))
  t.strictSame(tops.sort(), ['.npmrc', 'apps', 'package-lock.json', 'package.json', 'packages', 'samples', 'tsconfig.base.json'])
})
