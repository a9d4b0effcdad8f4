import { readFileSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pathSegment, type CallResult } from '@toolyard/client'
import { around, asError, isRecord, prettyJson, writeJson } from '@toolyard/contract/terms'
import { textOption, type Command } from '../terminal/command.ts'
import { CommandError, exitStatus, misuse } from '../terminal/exit-status.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import { complain, print } from '../terminal/terminal.ts'
import { readArguments, readObject } from './call-arguments.ts'
import { askService, strangeAnswer } from './ask-service.ts'
import { clientOf, commandError, findTarget, type Target } from './target.ts'

/** `toolyard call`: one tool of the service. */
export const call: Command = {
  name: 'call',
  summary: 'Call a tool of the service that runs',
  help: `Calls one tool and prints its output; how long it took, and which service did it, goes to stderr. On a terminal a bar shows
how far a tool is that tells it. A value is JSON where the tool's schema asks for a number, a boolean, a list or an object, and
a text otherwise.

  toolyard call add --arg a=2 --arg b=3
  echo '{"a": 2, "b": 3}' | toolyard call add --json -`,
  arguments: ['<name>'],
  options: [
    ['--arg <name=value...>', 'one argument; give it as often as there are arguments'],
    ['--json [-]', 'with -: read the arguments from stdin, as a JSON object; without: print {ok, output, ms} as JSON'],
    ['--out <file>', 'write the output into this file, all that the service has kept of it, in place of printing it'],
    ['--queue <name>', 'run it in this queue'],
    ['--session <id>', 'run it in this session, whose files are its workspace'],
    ['--timeout <seconds>', 'how long to wait for it (default: 600)'],
    ['--dry-run', 'only say what would become of the call: it would run, wait for an approval, or be refused']
  ],
  complete: async () => {
    const target = findTarget(process.env)
    return (await clientOf(target, 0).tools('chat', { signal: AbortSignal.timeout(1_000) })).map(tool => tool.function.name)
  },
  run: async ({ args: [name = ''], options, words }) => {
    const seconds = Number(options['timeout'] ?? 600)
    if (!(seconds > 0)) throw misuse(`--timeout takes seconds, not '${String(options['timeout'])}'`)
    const target = findTarget(process.env)
    const asJson = words.some((word, index) => word === '--json' && words[index + 1] !== '-')
    const given = await argumentsOf(name, target, { pairs: Array.isArray(options['arg']) ? options['arg'].map(String) : [], stdin: readsStdin(words, options['json']) })
    if (options['dryRun'] === true) return await dryRun(target, name, given, { options, asJson })
    const out = textOption(options, 'out')
    if (out !== undefined && !await stat(dirname(out)).then(found => found.isDirectory(), () => false)) throw misuse(`--out ${out}: there is no directory ${dirname(out)}`)
    const started = performance.now()
    let cut: { bytes: number, storedBytes: number } | undefined
    const bar = process.stderr.isTTY ? new ProgressBar(process.stderr) : undefined
    const output = await clientOf(target).call(name, given, {
      queue: textOption(options, 'queue'),
      session: textOption(options, 'session'),
      timeoutMs: seconds * 1_000,
      onCut: sizes => { cut = sizes },
      onPerson: result => {
        bar?.clear()
        complain(waitText(result))
      },
      onProgress: bar === undefined ? undefined : progress => { bar.show(progress) }
    }).catch((error: unknown) => { throw commandError(error, target) }).finally(() => { bar?.clear() })
    const ms = Math.round(performance.now() - started)
    if (out !== undefined) await writeOutput(out, output)
    if (asJson) print(prettyJson(around({ ok: true, ...out === undefined ? { output } : { out }, ms })))
    else {
      if (out === undefined) print(typeof output === 'string' ? output.replace(/\n$/, '') : prettyJson(output))
      complain(`${name} took ${ms} ms, asked ${target.description}`)
    }
    if (cut === undefined) return exitStatus.done
    complain(`${name} put out ${cut.bytes} bytes, of which the first ${cut.storedBytes} were kept and are ${out === undefined ? 'printed' : `in ${out}`}. MAX_OUTPUT_BYTES of the service keeps more; in a session (--session) a tool can write a file, which toolyard files get fetches`)
    return exitStatus.cut
  }
}

/** What the call waits for, and the command with which somebody ends the wait. */
function waitText ({ job_id: id = '', error }: CallResult): string {
  const next = error?.code === 'HELD'
    ? `toolyard approvals approve ${id} approves it, with a key that may`
    : `toolyard jobs show ${id} prints the question and its schema, and toolyard jobs answer ${id} JSON answers it`
  return `waiting: ${(error?.message ?? '').replace(/(?<![.?!])$/, '.')} ${next}`
}

/** A text is written as it is. */
async function writeOutput (out: string, output: unknown): Promise<void> {
  try {
    await writeFile(out, typeof output === 'string' ? output : `${prettyJson(output)}\n`)
  } catch (error) {
    throw new CommandError(`The tool has run, and its output can't be written to ${out}: ${asError(error).message}`, { code: 'OUT' })
  }
}

async function dryRun (
  target: Target, name: string, args: object, { options, asJson }: { options: Record<string, unknown>, asJson: boolean }
): Promise<number> {
  const query = new URLSearchParams({ dry_run: 'true' })
  for (const each of ['queue', 'session']) {
    const value = textOption(options, each)
    if (value !== undefined) query.set(each, value)
  }
  const answer = await askService(target, { method: 'POST', path: `/v1/tools/${pathSegment(name)}?${query.toString()}`, body: writeJson(args) })
  const { tool, would, hold } = answer
  if (typeof tool !== 'string') throw strangeAnswer(target, answer)
  if (asJson) print(prettyJson(answer))
  else {
    print(prettyJson(answer['arguments']))
    const why = isRecord(hold) ? `: ${text(hold['reason']) ?? text(hold['rule']) ?? 'it always needs one'}` : ''
    complain(would === 'hold' ? `${tool} would wait for an approval${why}` : `${tool} would run with these arguments`)
  }
  return exitStatus.done
}

function text (value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function readsStdin (words: readonly string[], json: unknown): boolean {
  if (typeof json === 'string' && json !== '-') {
    const remedy = json.trimStart().startsWith('{') ? 'print the object into it, as in echo \'{"a": 2}\' | toolyard call NAME --json -' : "put the tool's name before it"
    throw misuse(`--json takes - for stdin, or nothing, not '${json}': ${remedy}`)
  }
  return words.some((word, index) => word === '--json=-' || (word === '--json' && words[index + 1] === '-'))
}

async function argumentsOf (name: string, target: Target, { pairs, stdin }: { pairs: readonly string[], stdin: boolean }): Promise<object> {
  if (stdin && pairs.length > 0) throw misuse('--arg or --json -, not both')
  if (stdin) return readObject(readFileSync(0, 'utf8'), 'what came on stdin')
  if (pairs.length === 0) return {}
  const tools = await clientOf(target).tools('chat').catch((error: unknown) => { throw commandError(error, target) })
  const tool = tools.find(tool => tool.function.name === name)
  // What isn't listed may be callable all the same; else the service knows best why it can't run.
  return readArguments(name, pairs, tool?.function.parameters ?? {})
}
