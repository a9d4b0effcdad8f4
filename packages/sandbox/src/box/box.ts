import { relative } from 'node:path'
import { findHidden, hiddenAbove, identify, realPath, type HiddenPlaces } from '@toolyard/workspace'
import type { Box, BoxEntry } from '../process/plan/box.ts'
import { namedProgram } from '../process/plan/own-name.ts'
import { handedVariables, type ProcessPlan } from '../process/plan/plan.ts'
import { boxArguments, type BoxSpec } from './box-arguments.ts'
import type { BoxFoundation } from './foundation.ts'
import { waitingCommand } from './waiting-program.ts'
import { planInNetwork, type Grant } from './grant.ts'
import { prlimitCommand } from './limits.ts'
import { narrowCommand } from './narrow.ts'
import { isWithin } from '../view/path.ts'
import { programFiles } from '../view/program-files.ts'
import { isOpenable, outermost } from '../view/search-path.ts'
import { systemDirectories } from '../view/system-mounts.ts'

/** The first descriptor behind stdin, stdout and stderr. */
export const firstFree = 3
/** Variables that no plan names: bubblewrap sets PWD, and tools that instrument Node pass NODE_OPTIONS to child processes. */
const addedVariables = ['PWD', 'NODE_OPTIONS'] as const

/** A box for the processes of one tool; the directory of a session takes the place of the workspace. */
export function createBox (foundation: BoxFoundation, grant: Grant, session?: string): Box {
  const { network } = grant
  const { bubblewrap, perl } = foundation
  const hasUnix = grant.unixSockets === true && (network !== undefined || !grant.permissions.includes('network'))
  const filter = hasUnix ? foundation.unixFilter : foundation.filter
  // A call that no waiting box fits is entered right after its line was asked for.
  const looked = new WeakMap<ProcessPlan, { spec: BoxSpec, args: string[] }>()
  const shown = (plan: ProcessPlan, pinned: string | undefined): { spec: BoxSpec, args: string[] } => {
    const known = looked.get(plan) ?? shownBy(boxSpec(plan, foundation, { ...grant, pinned, session }))
    looked.set(plan, known)
    return known
  }
  const line = (given: ProcessPlan, pinned?: string): ProcessPlan => {
    const plan = planInNetwork(given, network)
    const { env, args: setting } = outsideEnvironment(plan.env)
    const { spec, args } = shown(plan, pinned)
    const inside = plan.parts === undefined ? [...setting, '--'] : ['--', ...narrowCommand(spec, plan.parts, setting)]
    return { program: bubblewrap.path, args: [...args, ...inside, ...insideCommand(plan, foundation, grant)], env, cwd: '/' }
  }
  const taken = (texts?: readonly string[]): Pick<BoxEntry, 'files' | 'status' | 'launcher'> => {
    const status = foundation.statusFiles.take(texts)
    const files = [status.path, ...(filter === undefined ? [] : [filter]), ...status.handed]
    return { files, status, ...(network === undefined ? {} : { launcher: network.launcher }) }
  }
  return {
    line,
    enter (plan, pinned) {
      const boxed = line(plan, pinned)
      const entry = taken(plan.handed?.map(({ text }) => text))
      const env = { ...boxed.env, ...handedVariables(plan.handed, firstHanded(foundation)) }
      return { plan: { ...boxed, env }, ...entry }
    },
    // Boxes that wait are told apart by their command lines, which do not say what a filter holds.
    ...perl !== undefined && !hasUnix && {
      lineAhead: (plan, pinned) => ahead(shown(plan, pinned).args, perl),
      enterAhead: (plan, pinned) => ({ plan: ahead(shown(plan, pinned).args, perl), ...taken() })
    }
  }

  function ahead (args: readonly string[], perl: string): ProcessPlan {
    const inside = [...limitsCommand(foundation, grant), ...waitingCommand(perl, firstHanded(foundation))]
    return { program: bubblewrap.path, args: [...args, '--', ...inside], env: {}, cwd: '/' }
  }
}

function shownBy (spec: BoxSpec): { spec: BoxSpec, args: string[] } {
  return { spec, args: boxArguments(spec) }
}

/** The first descriptor behind those that bubblewrap takes. */
function firstHanded ({ filter }: BoxFoundation): number {
  return firstFree + (filter === undefined ? 1 : 2)
}

interface BoxFor {
  /** A checked copy of the program. */
  pinned?: string | undefined
  /** The directory of a session. */
  session?: string | undefined
}

/**
 * Everything that a box for a plan is built from.
 *
 * @throws Error when the tool could write to the service's own files through the workspace, or its directories can't be
 *   searched for them.
 */
export function boxSpec (plan: ProcessPlan, foundation: BoxFoundation, grant: Grant & BoxFor): BoxSpec {
  const { bubblewrap, workspaceDir } = foundation
  const { session } = grant
  const access = session === undefined ? workspaceAccess(foundation, grant) : accessOf(grant)
  const hidden = hiddenIn(foundation, [...grant.readable, ...access === 'none' || session !== undefined ? [] : [workspaceDir]])
  return {
    bubblewrap,
    system: foundation.system,
    etc: foundation.etc,
    network: grant.network ?? (grant.permissions.includes('network') ? 'machine' : 'none'),
    home: homeOf(plan, workspaceDir),
    readable: readableOf(plan, foundation, { grant, hidden }),
    mounted: mountedIn(plan, hidden),
    replaced: replacedBy(plan, grant.pinned, workspaceDir),
    hidden,
    workspace: { place: workspaceDir, real: session ?? realPath(workspaceDir) ?? workspaceDir, access, isSession: session !== undefined },
    cwd: plan.cwd,
    tempBytes: grant.limits.tempBytes,
    descriptors: { status: firstFree, filter: foundation.filter === undefined ? undefined : firstFree + 1 },
    ...plan.parts !== undefined && { hasInnerBoxes: true }
  }
}

function insideCommand (plan: ProcessPlan, foundation: BoxFoundation, grant: Grant): string[] {
  return [
    ...cleanCommand(plan, foundation),
    ...limitsCommand(foundation, grant),
    ...namedProgram(plan, foundation.renamer),
    ...plan.args
  ]
}

function limitsCommand ({ prlimit, hardLimits }: BoxFoundation, { limits }: Grant): string[] {
  return prlimit === undefined ? [] : prlimitCommand(prlimit, limits, hardLimits)
}

/** They load code into every program, and into bubblewrap before there is a box. */
const ofLoader = /^(?:LD_\w+|GLIBC_TUNABLES|GCONV_PATH|LOCPATH)$/

/** The environment of bubblewrap itself, and the arguments by which it sets the rest inside the box. */
export function outsideEnvironment (env: ProcessPlan['env']): Pick<ProcessPlan, 'env' | 'args'> {
  const [inside, outside] = [true, false].map(loads => Object.entries(env).filter(([name]) => ofLoader.test(name) === loads))
  return { env: Object.fromEntries(outside ?? []), args: (inside ?? []).flatMap(([name, value]) => ['--setenv', name, value]) }
}

/** Takes variables away that others put there; before prlimit, because env(1) would read `NAME=value` in a program's path. */
export function cleanCommand (plan: ProcessPlan, { env }: BoxFoundation): string[] {
  const added = addedVariables.filter(name => plan.env[name] === undefined)
  return env === undefined || added.length === 0 ? [] : [env, ...added.flatMap(name => ['-u', name])]
}

/** An empty directory in place of HOME, unless that would cover the system or the workspace. */
function homeOf (plan: ProcessPlan, workspaceDir: string): string | undefined {
  const home = plan.env['HOME']
  if (home === undefined || !home.startsWith('/') || isWithin(home, workspaceDir)) return undefined
  const covered = [...systemDirectories, '/etc', '/proc', '/dev'].some(place => isWithin(place, home) || isWithin(home, place))
  return covered || home === '/tmp' ? undefined : home
}

function readableOf (
  plan: ProcessPlan, { barred, bubblewrap, searchPath }: BoxFoundation, { grant, hidden }: { grant: Grant, hidden: HiddenPlaces }
): string[] {
  const programs = [plan.program, ...plan.parts === undefined ? [] : [bubblewrap.path]]
  const named = [...programs.flatMap(program => programFiles(program, plan.env['PATH'] ?? '')), ...grant.readable, ...plan.readable ?? []]
  const own = named.filter(place => isOpenable(place, barred))
  for (const place of own) refuseInside(place, hidden)
  return outermost([...searchPath.filter(place => hiddenAbove(place, hidden) === undefined), ...own])
}

/** @throws Error for a directory of the service. */
function mountedIn ({ mounted = [] }: ProcessPlan, hidden: HiddenPlaces): BoxSpec['mounted'] {
  for (const { source } of mounted) refuseInside(source, hidden)
  return mounted
}

/** @throws Error for a place that the service keeps for itself, or that lies in such a directory: a box would show that part of it. */
export function refuseInside (place: string, hidden: HiddenPlaces, what = ''): void {
  const directory = hiddenAbove(place, hidden)
  if (directory !== undefined) throw new Error(`${what}${place} is inside ${directory}, where the service keeps files of its own; give the tools a directory of their own`)
}

/** Nothing is mounted below the workspace: what is pinned in there was checked, and that must do. */
function replacedBy ({ pin }: ProcessPlan, pinned: string | undefined, workspaceDir: string): BoxSpec['replaced'] {
  const place = pin === undefined ? undefined : realPath(pin.file)
  return place === undefined || pinned === undefined || isWithin(place, realPath(workspaceDir) ?? workspaceDir)
    ? []
    : [{ place, by: pinned }]
}

/**
 * Hidden in every box, of these directories: the service's files by all their names, the workspace, which has a mount of its
 * own, and the sessions.
 *
 * @throws Error when they are too large to be searched for other names.
 */
export function hiddenIn ({ hidden, workspaceDir, sessionsDir, secondNames }: BoxFoundation, directories: readonly string[]): HiddenPlaces {
  const named = [workspaceDir, ...sessionsDir === undefined ? [] : [sessionsDir]]
  const own = [...hidden, ...named]
  const found = withoutNamedDirectories(findHidden(own), named)
  const others = secondNames(directories, found)
  return others.length === 0 ? found : withoutNamedDirectories(findHidden([...own, ...others]), named)
}

/** Hides the workspace and the sessions only by name: unlike those of the service, their files aren't looked for by other names. */
function withoutNamedDirectories (hidden: HiddenPlaces, named: readonly string[]): HiddenPlaces {
  const ids = named.map(identify)
  return { ...hidden, directories: new Map([...hidden.directories].filter(([directory]) => !ids.includes(directory))) }
}

/** @throws Error when the tool could write where the service has files of its own, or will have them, or has its manifests. */
export function workspaceAccess ({ workspaceDir, hidden, kept, secondNames }: BoxFoundation, { permissions }: Grant): BoxSpec['workspace']['access'] {
  if (permissions.includes('write_files')) {
    const id = identify(workspaceDir)
    const places = [...hidden, ...kept]
    const own = id !== undefined && findHidden(places).above.has(id) ? places.find(path => findHidden([path]).above.has(id)) : undefined
    if (own !== undefined) throw new Error(`the workspace holds files of the service (${relative(workspaceDir, own)}), so no tool may write to it; move them elsewhere, or call the tool in a session`)
    const [second] = secondNames([workspaceDir], withoutNamedDirectories(findHidden(hidden), [workspaceDir]))
    if (second !== undefined) throw new Error(`the workspace holds another name (a hard link) of a file of the service (${relative(workspaceDir, second)}), so no tool may write to it`)
  }
  return accessOf({ permissions })
}

/** In the workspace, or in the session. */
export function accessOf ({ permissions }: Pick<Grant, 'permissions'>): BoxSpec['workspace']['access'] {
  return permissions.includes('write_files') ? 'write' : permissions.includes('read_repo') ? 'read' : 'none'
}
