import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { repoRoot } from '../repo/source-tree.ts'
import { copyFromContext } from './build-context.ts'
import { allSteps, readStages, type Stage, type Step } from './dockerfile.ts'

const run = promisify(execFile)

/** A builder would leave these out here: they install packages of the system, and its users. */
const ofTheSystem = /^(apt-get|install) /
/** Done by this checkout already: what it has compiled is taken instead. */
const ofTheBuild = /^node \S+\/tsc /
/** Its packages are taken as well, by links. */
const installsAll = /^npm ci --ignore-scripts$/

/**
 * Lays out the files of images as their Dockerfile says, without a container engine: `COPY`, and of `RUN` what npm and find do. The
 * compiled files are those of this checkout. Each image gets a directory with its name in `root`; a stage of several is made once.
 */
export async function layOutImages (images: readonly string[], root: string): Promise<void> {
  const building = { root, stages: readStages(), made: new Map() }
  await Promise.all(images.map(async image => await layOut(image, building)))
}

interface Building {
  root: string
  stages: readonly Stage[]
  /** Stages that are copied from, each made once. */
  made: Map<string, Promise<string>>
}

async function layOut (name: string, building: Building): Promise<string> {
  const directory = join(building.root, name)
  let place = '/'
  for (const step of allSteps(building.stages, name)) {
    if (step.keyword === 'WORKDIR') place = step.args[0] ?? '/'
    const at = join(directory, place)
    mkdirSync(at, { recursive: true })
    if (step.keyword === 'COPY') await copy(step, at, building)
    if (step.keyword === 'RUN' && installsAll.test(step.text)) linkModules(at)
    else if (step.keyword === 'RUN' && !ofTheSystem.test(step.text) && !ofTheBuild.test(step.text)) {
      await run('/bin/sh', ['-c', step.text], { cwd: at, env: { ...process.env, npm_config_prefer_offline: 'true' }, maxBuffer: 2 ** 26 })
    }
  }
  return directory
}

/** The packages of the workspace are found in the image's own tree, as npm links them. */
function linkModules (app: string): void {
  for (const part of ['.', ...['apps', 'packages'].flatMap(dir => readdirSync(join(app, dir)).map(name => join(dir, name)))]) {
    const from = join(repoRoot, part, 'node_modules')
    if (!existsSync(from)) continue
    const to = join(app, part, 'node_modules')
    mkdirSync(to)
    for (const name of readdirSync(from)) {
      if (name === '@toolyard') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
      else symlinkSync(join(from, name), join(to, name))
    }
  }
}

async function copy ({ args, flags }: Step, at: string, building: Building): Promise<void> {
  const sources = args.slice(0, -1)
  const target = args.at(-1) ?? '.'
  const stage = flags['from']
  for (const source of sources) {
    const to = target.endsWith('/') && stage === undefined ? join(at, target, basename(source)) : join(at, target)
    if (stage === undefined) copyFromContext(source, to, isCompiled)
    else cpSync(join(await made(stage, building), isAbsolute(source) ? source : `/${source}`), to, { recursive: true, verbatimSymlinks: true })
  }
}

async function made (stage: string, building: Building): Promise<string> {
  const there = building.made.get(stage) ?? layOut(stage, building)
  building.made.set(stage, there)
  return await there
}

function isCompiled (path: string): boolean {
  const parts = path.split('/')
  return parts[2] === 'dist' && !parts.includes('node_modules')
}
