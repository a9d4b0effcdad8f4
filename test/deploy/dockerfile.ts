import { DockerfileParser, JSONInstruction, ModifiableInstruction, type Instruction } from 'dockerfile-ast'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

export interface Step {
  keyword: string
  /** Behind the flags; the elements where they are written as a JSON array. */
  args: string[]
  /** Whether they are written as a JSON array. */
  exec: boolean
  flags: Record<string, string>
  /** All behind the keyword, as it is written. */
  text: string
  line: number
}

/** One stage: what stands between two `FROM`. */
export interface Stage {
  name: string
  /** An image, or the name of an earlier stage. */
  from: string
  steps: Step[]
}

/** Reads the repository's Dockerfile, with the defaults of its build arguments for `FROM` filled in. */
export function readStages (): Stage[] {
  const file = DockerfileParser.parse(readFileSync(join(repoRoot, 'Dockerfile'), 'utf8'))
  const stages: Stage[] = []
  const defaults = new Map<string, string>()
  for (const step of file.getInstructions().map(readStep)) {
    if (step.keyword === 'ARG' && stages.length === 0) defaults.set(...assignment(step.args[0] ?? ''))
    else if (step.keyword === 'FROM') stages.push({ from: (step.args[0] ?? '').replace(/\$\{(\w+)\}/g, (_, name: string) => defaults.get(name) ?? ''), name: step.args[2] ?? '', steps: [] })
    else stages.at(-1)?.steps.push(step)
  }
  return stages
}

/** A stage's steps with those of the stages that it is built from, in their order. */
export function allSteps (stages: readonly Stage[], name: string): Step[] {
  const stage = stages.find(stage => stage.name === name)
  return stage === undefined ? [] : [...allSteps(stages, stage.from), ...stage.steps]
}

export function environmentOf (steps: readonly Step[]): Record<string, string> {
  return Object.fromEntries(steps.filter(({ keyword }) => keyword === 'ENV').flatMap(({ args }) => args.map(assignment)))
}

function assignment (arg: string): [name: string, value: string] {
  const at = arg.indexOf('=')
  return [arg.slice(0, at), arg.slice(at + 1)]
}

/** The last step with that keyword, which is the one that counts. */
export function lastOf (steps: readonly Step[], keyword: string): Step | undefined {
  return steps.findLast(step => step.keyword === keyword)
}

function readStep (instruction: Instruction): Step {
  const json = instruction instanceof JSONInstruction ? instruction.getJSONStrings().map(string => string.getJSONValue()) : []
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : []
  return {
    keyword: instruction.getKeyword(),
    args: json.length > 0 ? json : instruction.getArguments().map(argument => argument.getValue()),
    exec: json.length > 0,
    flags: Object.fromEntries(flags.map(flag => [flag.getName(), flag.getValue() ?? ''])),
    text: instruction.getRawArgumentsContent() ?? '',
    line: instruction.getRange().start.line + 1
  }
}
