import type { Pin } from './pins.ts'

/** The longest element of argv, and the longest variable with its name, that Linux takes. */
export const maxElementBytes = 131_071

/** A directory that a box shows in another place than its own. */
export interface MountedPlace {
  /** Absolute path of the directory, without links in it. */
  source: string
  /** Absolute path inside, where nothing else is. */
  place: string
  /** New files may be made there, which are gone with the box; default false. */
  overlay?: boolean
}

/** A file or directory of the workspace, without links in its path, that a box shows. */
export interface WorkspacePart {
  /** Absolute path, as processes see it. */
  place: string
  /** It may be written to, where the tool may write at all. */
  writable: boolean
}

export interface HandedText {
  variable: string
  text: string
}

/** Everything that `execve` needs to know, and nothing of where it came from. */
export interface ProcessPlan {
  /** Absolute path. */
  program: string
  args: readonly string[]
  /** Its own name (`argv[0]`); its path when absent. */
  name?: string
  env: Readonly<Record<string, string>>
  cwd: string
  /** Directories and files that it must be able to read when it runs in a box, beside its own program; absolute paths. */
  readable?: readonly string[]
  /** Directories to show in places of their own when it runs in a box; in the open they are not there. */
  mounted?: readonly MountedPlace[]
  /** All that a box shows of the workspace; absent: what the tool's permissions say. None lies in another. */
  parts?: readonly WorkspacePart[]
  /** Texts that it reads from descriptors of its own, whose paths the variables name. */
  handed?: readonly HandedText[]
  /** The program, or the script that it is given, must be what was pinned; else it isn't run. */
  pin?: Pin
}

/** The paths of texts that are handed over, by their variables. `first`: the descriptor of the first. */
export function handedVariables (handed: ProcessPlan['handed'] = [], first: number): Record<string, string> {
  return Object.fromEntries(handed.map(({ variable }, index) => [variable, `/dev/fd/${first + index}`]))
}
