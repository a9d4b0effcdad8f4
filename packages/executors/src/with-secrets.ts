import type { SecretUse, Tool } from '@toolyard/manifests'
import { readEgressRule } from '@toolyard/runtime/outgoing'
import type { HandedText } from '@toolyard/sandbox'
import { Turns } from '@toolyard/runtime'
import type { Threads } from '@toolyard/runtime/threads'
import { makePlaceholder } from './egress/placeholders.ts'
import { storedNamesOf } from './mcp/wire/setting-text.ts'
import { byteForms } from './result/hidden-bytes.ts'
import { withoutParts, withoutTexts, withoutTextsIn } from './result/hidden-texts.ts'
import { readLargeOutput } from './result/large-output.ts'
import { htmlSafeForms, partsOfSecret, plainTexts, secretForms } from './result/secret-forms.ts'
import type { SharedForms } from './result/shared-forms.ts'
import { isHeaderText, type HeaderSecret } from './run/header-secret.ts'
import { failure, ownerOfCall, type Failure, type Outcome, type RunContext } from './run/outcome.ts'

/** Where the values of stored secrets come from. */
export interface SecretSource {
  /**
   * The values for a call, by name; without those that nobody has stored for it, and undefined for one that is there and can't be
   * opened. A fault where a store could not be asked.
   */
  open (
    names: readonly string[], call: { keyName: string | undefined, tenant: string | undefined }
  ): Promise<ReadonlyMap<string, string | undefined> | { fault: string }>
}

/** UTF-16 units of a line of the log that may have been cut: it keeps its first 4 KiB. */
const longLine = 1_000

/** Lines of a secret, texts and fields of one in JSON: each is hidden by itself, in several forms. */
const mostLines = 1_000

/** How long a call that goes on trusts that a secret is stored as it was, in milliseconds: what is removed is not used after a second. */
const trustMs = 500

/** UTF-16 units of all secrets of a call. All forms that they are hidden in have up to 220 times as many, for as long as it runs. */
const mostUnits = 98_304

/** Servers refuse larger headers. */
const mostHeaderChars = 8_192

interface CallSecrets {
  ok: true
  /** Variables of its processes: values and placeholders. */
  variables: Readonly<Record<string, string>>
  headerSecrets: readonly HeaderSecret[]
  /** Variables that name files, and what is in these. */
  handed: readonly HandedText[]
}

/** What gives the secrets away that the processes of a call use. */
export interface CallForms {
  /** What gives those away that headers carry, as bytes of answers have it. */
  inAnswers: ReadonlyMap<string, readonly string[]>
  /** All of it, hidden in everything that its processes say. */
  forms: readonly string[]
  /**
   * Those of values that its processes have: of these, what is left where a text was cut is hidden, too. Of others nobody prints a
   * part, and who prints a guess must not hear that one begins so.
   */
  given: readonly string[]
}

/** Runs a call with the secrets that its tool uses, and hides those of its processes, and of their requests, in all that they say. */
export async function withSecrets (
  tool: Tool, context: RunContext,
  { source, threads, shared }: { source: SecretSource | undefined, threads: Threads, shared: SharedForms<CallForms> },
  run: (context: RunContext) => Promise<Outcome>
): Promise<Outcome> {
  const names = secretNames(tool)
  if (names.length === 0) return await run(context)
  const { keyName, tenant } = context
  const openedAt = performance.now()
  const opened = await openNamed(names, { keyName, tenant }, source)
  if (!opened.ok) return opened
  const { values } = opened
  const uses = Object.entries(tool.secrets ?? {})
  const checkOf = (name: string): HeaderSecret['isCurrent'] => {
    const open = async (): ReturnType<typeof openNamed> => await openNamed([name], { keyName, tenant }, source)
    return createCheck(open, { name, value: values.get(name), openedAt })
  }
  const which = JSON.stringify(uses.map(([, { as, secret }]) => [as, secret, values.get(secret)]))
  return await shared.use(which, async () => await formsOf(uses, values), async forms => {
    const secrets = readUses(uses, { values, inAnswers: forms.inAnswers }, checkOf)
    if (!secrets.ok) return secrets
    const { context: masked, hide } = hideSecrets(forms, context, threads)
    const { variables, headerSecrets, handed } = secrets
    return await hide(await run({ ...masked, secrets: values, variables, headerSecrets, handed, hideInHost: hideInHost(values) }))
  })
}

/** Asks whether a secret is as a call has it, no more often than it must. */
function createCheck (
  open: () => ReturnType<typeof openNamed>, { name, value, openedAt }: { name: string, value: string | undefined, openedAt: number }
): HeaderSecret['isCurrent'] {
  let askedAt = openedAt
  let answer = Promise.resolve(true)
  return async () => {
    if (performance.now() - askedAt > trustMs) {
      askedAt = performance.now()
      answer = open().then(now => {
        if (!now.ok && now.error.code !== 'SECRET_MISSING') throw new Error(now.error.message)
        return now.ok && now.values.get(name) === value
      })
      answer.catch(() => { askedAt = -Infinity })
    }
    return await answer
  }
}

function secretNames (tool: Tool): readonly string[] {
  const stored = storedIn(tool)
  if (tool.secrets === undefined) return stored
  return [...new Set([...Object.values(tool.secrets).map(({ secret }) => secret), ...stored])]
}

/** The values of secrets for a call, all of them; a call of nobody has the operator's. */
export async function openNamed (
  names: readonly string[], call: { keyName: string | undefined, tenant: string | undefined }, source: SecretSource | undefined
): Promise<{ ok: true, values: ReadonlyMap<string, string> } | Failure> {
  if (names.length === 0) return { ok: true, values: new Map() }
  if (source === undefined) return failure('SECRET_MISSING', `it uses the secret ${names[0]}, and there is no SECRETS_KEY here to open it with, no SECRETS_DIR and no SECRETS_VAULT_URL`)
  const opened = await source.open(names, call)
  if ('fault' in opened) return failure('TOOL_UNAVAILABLE', opened.fault)
  const values = new Map([...opened].flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]))
  const units = [...values.values()].reduce((sum, value) => sum + value.length, 0)
  if (units > mostUnits) return failure('TOOL_UNAVAILABLE', `the secrets of this tool have more than ${mostUnits} characters together, too many to hide: give it smaller ones, or fewer`)
  const missing = names.find(name => !values.has(name))
  const long = names.find(name => partsOfSecret(values.get(name) ?? '') > mostLines)
  if (missing === undefined) return long === undefined ? { ok: true, values } : failure('TOOL_UNAVAILABLE', `the secret ${long} has more than ${mostLines} lines, or texts and fields in JSON, too many to hide each of them: store it as several secrets, or in Base64`)
  if (opened.has(missing)) return failure('SECRET_MISSING', `the secret ${missing} was sealed with another SECRETS_KEY than the worker has: store it again, or give the worker that key`)
  const says = call.keyName === undefined && call.tenant === undefined ? `the operator has not stored the secret ${missing}` : `nobody has stored the secret ${missing} for this call`
  return failure('SECRET_MISSING', `${says}: toolyard secrets set ${missing}, or PUT /v1/secrets/${missing}`)
}

function readUses (
  uses: ReadonlyArray<[string, SecretUse]>, { values, inAnswers }: { values: ReadonlyMap<string, string>, inAnswers: CallForms['inAnswers'] },
  checkOf: (name: string) => HeaderSecret['isCurrent']
): CallSecrets | Failure {
  const variables: Record<string, string> = {}
  const headerSecrets: HeaderSecret[] = []
  const handed: HandedText[] = []
  for (const [variable, use] of uses) {
    const value = values.get(use.secret) ?? ''
    if (use.as !== 'header') {
      if (use.as === 'env' && !isVariableText(variable, value)) {
        return failure('TOOL_UNAVAILABLE', `the secret ${use.secret} holds what no variable can carry: a NUL, or more than 128 KiB; "as": "file" takes it`)
      }
      if (use.as === 'env') variables[variable] = value
      else handed.push({ variable, text: value })
      continue
    }
    const inAnswer = inAnswers.get(use.secret)
    if (inAnswer === undefined) {
      return failure('TOOL_UNAVAILABLE', `the secret ${use.secret} holds what no header can carry: a line break, letters beyond Latin-1, or more than ${mostHeaderChars} characters`)
    }
    const placeholder = makePlaceholder()
    variables[variable] = placeholder
    const rules = use.hosts.flatMap(host => readEgressRule(host) ?? [])
    headerSecrets.push({ placeholder, value, forms: inAnswer, name: use.secret, isCurrent: checkOf(use.secret), rules })
  }
  return { ok: true, variables, headerSecrets, handed }
}

/** The kernel takes a text with a NUL for a shorter one, and bounds each text by 128 KiB with the NUL at its end. */
function isVariableText (name: string, value: string): boolean {
  return !value.includes('\0') && Buffer.byteLength(`${name}=${value}`) < 131_072
}

function storedIn ({ run }: Tool): string[] {
  if (run.kind === 'mcp') return storedNamesOf(run.server)
  return run.kind !== 'http' ? [] : [...run.query, ...run.headers].flatMap(field => 'setting' in field && field.stored === true ? [field.setting] : [])
}

async function formsOf (uses: ReadonlyArray<[string, SecretUse]>, values: ReadonlyMap<string, string>): Promise<CallForms> {
  const byName = new Map<string, readonly string[]>()
  for (const name of new Set(uses.map(([, { secret }]) => secret))) byName.set(name, await secretForms([values.get(name) ?? ''], []))
  const inAnswers = new Map<string, readonly string[]>()
  const turns = new Turns()
  for (const name of new Set(uses.flatMap(([, { as, secret }]) => as === 'header' ? [secret] : []))) {
    const value = values.get(name) ?? ''
    if (!isHeaderText(value) || value.length > mostHeaderChars) continue
    inAnswers.set(name, byteForms([...byName.get(name) ?? [], ...htmlSafeForms(value)]))
    if (turns.isOver(64)) await turns.next()
  }
  const given = uses.flatMap(([, { as, secret }]) => as === 'header' ? [] : [byName.get(secret) ?? []])
  return { inAnswers, forms: longestFirst([...byName.values()]), given: longestFirst(given) }
}

function longestFirst (lists: ReadonlyArray<readonly string[]>): readonly string[] {
  const [only = []] = lists
  return lists.length < 2 ? only : [...new Set(lists.flat())].sort((a, b) => b.length - a.length)
}

/** Hosts have no ways to write a text but small letters. */
function hideInHost (values: ReadonlyMap<string, string>): (text: string) => string {
  let texts: readonly string[] | undefined
  return text => {
    texts ??= plainTexts([...values.values()]).flatMap(plain => [plain, plain.toLowerCase()])
    return withoutTexts(text, texts)
  }
}

/** Hides the values in all that processes of a call say, by all forms that they are written in. */
function hideSecrets (
  { forms, given }: CallForms, context: RunContext, threads: Threads
): { context: RunContext, hide: (outcome: Outcome) => Promise<Outcome> } {
  if (forms.length === 0) return { context, hide: async outcome => await Promise.resolve(outcome) }
  const mask = (text: string): string => withoutTexts(text, forms)
  // A failure's text is the beginning or the end of what was printed.
  const maskParts = (text: string): string => withoutParts(mask(text), given)
  return {
    context: {
      ...context,
      secretForms: forms,
      log: line => { context.log(line.length < longLine ? mask(line) : maskParts(line)) },
      progress: latest => {
        // Without its numbers it says nothing.
        if ([latest.done, latest.total].some(number => mask(String(number)) !== String(number))) return
        context.progress?.({ ...latest, text: latest.text === null ? null : mask(latest.text) })
      }
    },
    async hide (outcome) {
      if (!outcome.ok) {
        const { code, message, details } = outcome.error
        const shown = details === undefined ? {} : { details: withoutTextsIn(details, forms, { cut: given }) }
        return { ...outcome, error: { code, message: maskParts(message), ...shown } }
      }
      const cut = outcome.cut === undefined ? [] : given
      if (outcome.json === undefined) return { ...outcome, secretForms: forms, output: withoutTextsIn(outcome.output, forms, { cut }) }
      const reading = { threads, signal: context.signal, owner: ownerOfCall(context) }
      const hidden = await readLargeOutput({ bytes: outcome.json, kind: 'value', hide: forms, cut }, reading)
      return hidden.ok ? { ...outcome, ...hidden, secretForms: forms } : hidden
    }
  }
}
