/**
 * `npm run release`: raises the version of all packages as the changesets ask, and moves what is unreleased, with their
 * texts, under that version in CHANGELOG.md. Without changesets the version stays, which is for the first release. Look at
 * the result, commit it, and tag the commit.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { binary, root } from './checkout.mjs'

process.chdir(root)
const texts = readdirSync('.changeset').filter(name => name.endsWith('.md') && name !== 'README.md')
  .map(name => readFileSync(`.changeset/${name}`, 'utf8').split(/^---$/m).slice(2).join('---').trim())
for (const text of texts) withLine('', text)
if (texts.length > 0) run(process.execPath, binary('changeset'), 'version')
const { version } = JSON.parse(readFileSync('packages/contract/package.json', 'utf8'))
writeFileSync('package.json', readFileSync('package.json', 'utf8').replace(/^( {2}"version": )".*"/m, `$1"${version}"`))
// Deployments name the same version: test/deploy compares.
for (const file of ['docker-compose.yml', 'deploy/helm/toolyard/Chart.yaml', 'deploy/kubernetes/overlays/example/kustomization.yaml', 'docs/operations.md']) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(toolyard-(?:api|worker):|^version: |^appVersion: "|newTag: )\d+\.\d+\.\d+/gm, `$1${version}`))
}
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--omit-lockfile-registry-resolved')
writeFileSync('CHANGELOG.md', release(readFileSync('CHANGELOG.md', 'utf8')))
console.log(`CHANGELOG.md tells of ${version} now.`)

/** @param {string} changelog */
function release (changelog) {
  const [above = '', unreleased, ...below] = changelog.split(/^(?=## )/m)
  if (unreleased === undefined || !unreleased.startsWith('## [Unreleased]')) throw new Error('CHANGELOG.md has no [Unreleased] as its first release')
  if (below.some(section => section.startsWith(`## [${version}]`))) throw new Error(`${version} is released already: there is no changeset`)
  const section = texts.reduce(withLine, unreleased.replace('[Unreleased]', `[${version}] - ${new Date().toISOString().slice(0, 10)}`))
  return [above, '## [Unreleased]\n\n', section, ...below].join('')
}

/**
 * @param {string} section of the changelog
 * @param {string} text of a changeset: its kind, a colon, and what changed
 */
function withLine (section, text) {
  const [, kind, change = ''] = /^(Added|Changed|Deprecated|Removed|Fixed|Security): (.+)$/s.exec(text) ?? []
  if (kind === undefined) throw new Error(`A changeset begins with its kind, as in 'Fixed: ...'; this one doesn't: ${text}`)
  const line = `- ${change.replaceAll('\n', '\n  ')}\n`
  const parts = section.trimEnd().split(/^(?=### )/m)
  const at = parts.findIndex(part => part.startsWith(`### ${kind}\n`))
  if (at < 0) return `${section.trimEnd()}\n\n### ${kind}\n\n${line}\n`
  return `${parts.with(at, `${parts[at]?.trimEnd()}\n${line}${at === parts.length - 1 ? '' : '\n'}`).join('')}\n`
}

/**
 * @param {string} program
 * @param {...string} args
 */
function run (program, ...args) {
  if (spawnSync(program, args, { stdio: 'inherit' }).status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
}
