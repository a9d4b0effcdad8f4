import { asError, orElse } from '@toolyard/contract/terms'
import { identify, realPath } from '@toolyard/workspace'
import type { BoxEntry } from '../process/plan/box.ts'
import type { ProcessPlan } from '../process/plan/plan.ts'
import { accessOf, boxSpec, cleanCommand, firstFree, hiddenIn, outsideEnvironment, refuseInside, workspaceAccess } from './box.ts'
import { boxArguments, type BoxSpec } from './box-arguments.ts'
import type { BoxFoundation } from './foundation.ts'
import type { Grant } from './grant.ts'
import type { ProcessLimits } from './limits.ts'
import { isWithin } from '../view/path.ts'
import { sandboxFilter, templateFilter } from '../seccomp/filter.ts'
import { filesOfRoot } from '../view/root-files.ts'
import { outermost } from '../view/search-path.ts'
import { isShownTo, showPlace, type ShownPart } from '../view/shown.ts'

/** For a host, to make an inner box in its box for each call. The names are those of `inner_boxes.py`. */
export interface InnerBoxPlan {
  /** Seccomp filters in Base64; null where there are none for this machine. */
  templateFilter: string | null
  callFilter: string | null
  /** Where a new empty directory takes the place of HOME; null: nowhere. */
  home: string | null
  /** Shown below HOME or /tmp, and so in the new ones as well. */
  places: readonly string[]
  /** Files that nothing is in for a call. */
  covered: readonly string[]
  /** Whether calls have the network of the box, which is then the machine's. */
  network: boolean
  /** Where the sessions are shown to the host, and the workspace that one of them takes the place of; null: nowhere. */
  sessions: string | null
  workspace: string
}

/** Shuts in the host of a Python root, with all calls of the tools that hold the same permissions. */
export interface HostBox {
  /** Tools with different keys must not share a host. */
  key: string
  /** The key of the network that it is in; undefined: the machine's, or none. */
  network: string | undefined
  /** How a call sees the session that it is in. */
  sessionAccess: 'none' | 'read' | 'write'
  limits: ProcessLimits
  /**
   * Says how to run a host inside.
   *
   * @returns `depth`: how many generations the host is below the process that is started
   * @throws Error when it can't be run inside.
   */
  enter (plan: HostPlan): BoxEntry & { inner: InnerBoxPlan, depth: number }
  /**
   * Names what the box of a host of this Python root would show if it were built now. A box shows what was there when it
   * was built: when this changes, a new one is needed.
   */
  stamp (root: string): string
  /** Whether the box of a process shows the root that is there now; true where that can't be told. */
  shows (root: string, pid: number): boolean
}

interface HostPlan extends ProcessPlan {
  root: string
}

export function createHostBox (foundation: BoxFoundation, grant: Grant): HostBox {
  return {
    key: [...[...grant.permissions].sort(), ...(grant.network === undefined ? [] : [grant.network.key])].join(),
    network: grant.network?.key,
    sessionAccess: accessOf(grant),
    limits: grant.limits,
    enter (plan) {
      const spec = hostSpec(plan, foundation, grant)
      const status = foundation.statusFiles.take()
      const { env, args: setting } = outsideEnvironment(plan.env)
      const enter = grant.network?.enter ?? []
      const args = [...boxArguments(spec), ...setting, '--', ...cleanCommand(plan, foundation), plan.program, ...plan.args]
      return {
        plan: { ...insideFamily(foundation, enter, [foundation.bubblewrap.path, ...args]), env, cwd: '/' },
        files: [status.path],
        status,
        depth: foundation.family.length === 0 ? 2 : 4,
        inner: innerBoxPlan(spec)
      }
    },
    stamp: root => stampOf(root, foundation, grant),
    shows: (root, pid) => orElse(() => isShownTo(pid, shownOf(root, foundation, grant)), true)
  }
}

function stampOf (root: string, foundation: BoxFoundation, grant: Grant): string {
  try {
    const shown = shownOf(root, foundation, grant)
    return JSON.stringify([identify(foundation.workspaceDir), sessionsOf(foundation, grant), ...shown.map(({ args, id }) => [id, ...args])])
  } catch (error) {
    // To build the box will fail in the same way.
    return asError(error).message
  }
}

/** @throws Error where it can't be shown. */
function shownOf (root: string, foundation: BoxFoundation, grant: Grant): ShownPart[] {
  const { workspaceDir } = foundation
  const workspace = workspaceAccess(foundation, grant) === 'read' ? [workspaceDir] : []
  const hidden = hiddenIn(foundation, [...grant.readable, root, ...workspace])
  return [root, ...workspace].flatMap(place => showPlace(place, hidden, workspaceDir))
}

function insideFamily (
  { family }: BoxFoundation, enter: readonly string[], command: readonly string[]
): { program: string, args: string[] } {
  const [program = '', ...args] = [...enter, ...family, ...command]
  return { program, args }
}

function hostSpec (plan: HostPlan, foundation: BoxFoundation, grant: Grant): BoxSpec {
  const root = realPath(plan.root) ?? plan.root
  const tooWide = foundation.homes.find(home => isWithin(home, plan.root) || isWithin(realPath(home) ?? home, root))
  if (tooWide !== undefined) throw new Error(`the Python root ${plan.root} holds ${tooWide === plan.root ? 'all of a home directory' : tooWide}; give the tools a directory of their own`)
  const hidden = hiddenIn(foundation, [...grant.readable, plan.root, ...workspaceAccess(foundation, grant) === 'read' ? [foundation.workspaceDir] : []])
  refuseInside(plan.root, hidden, 'the Python root ')
  const spec = boxSpec(plan, foundation, grant)
  const sessions = sessionsOf(foundation, grant)
  return {
    ...spec,
    // The root may be the service's working directory, which no program is shown.
    readable: outermost([...spec.readable, plan.root]),
    hidden,
    descriptors: { status: firstFree, filter: undefined },
    ...(sessions === undefined ? {} : { sessions }),
    hasInnerBoxes: true
  }
}

/** A name that neither the system nor tools use. */
const sessionsPlace = '/.toolyard-sessions'

/** Undefined while there are none, and for tools that see no files. */
function sessionsOf ({ sessionsDir }: BoxFoundation, grant: Grant): BoxSpec['sessions'] {
  const real = sessionsDir === undefined || accessOf(grant) === 'none' ? undefined : realPath(sessionsDir)
  return real === undefined ? undefined : { place: sessionsPlace, real }
}

function innerBoxPlan ({ home, readable, workspace, network, sessions }: BoxSpec): InnerBoxPlan {
  const fresh = ['/tmp', '/dev/shm', ...(home === undefined ? [] : [home])]
  return {
    templateFilter: templateFilter(process.arch)?.toString('base64') ?? null,
    callFilter: sandboxFilter(process.arch)?.toString('base64') ?? null,
    home: home ?? null,
    covered: filesOfRoot(),
    places: outermost([...readable, workspace.place]).filter(place => fresh.some(directory => isWithin(place, directory))),
    network: network !== 'none',
    sessions: sessions?.place ?? null,
    workspace: workspace.place
  }
}
