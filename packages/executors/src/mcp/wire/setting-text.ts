import { createHash } from 'node:crypto'
import { isSecretVariable } from '@toolyard/contract/terms'
import type { McpServer, SettingText } from '@toolyard/manifests'
import { withoutTexts, withoutTextsIn } from '../../result/hidden-texts.ts'
import { secretForms } from '../../result/secret-forms.ts'
import type { SharedForms, Taken } from '../../result/shared-forms.ts'

/** Values of texts, those that are secrets, and what was sent with one in it; or what the first text lacks. */
type SettingTexts = { ok: true, texts: Record<string, string>, secrets: string[], sent: string[] } | { ok: false, missing: string }

export interface SettingValues {
  env: NodeJS.ProcessEnv
  stored?: ReadonlyMap<string, string> | undefined
}

/** The values of texts that may be in environment variables of the worker, or stored. */
export function settingTexts (texts: Readonly<Record<string, SettingText>>, { env, stored }: SettingValues): SettingTexts {
  const values: Record<string, string> = {}
  const secrets: string[] = []
  const sent: string[] = []
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') {
      values[name] = text
      continue
    }
    const value = 'secret' in text ? stored?.get(text.secret) : isSecretVariable(text.setting) ? undefined : env[text.setting]
    if (value === undefined || value === '') return { ok: false, missing: 'secret' in text ? `secret ${text.secret}` : `environment variable ${text.setting}` }
    const whole = `${text.prefix ?? ''}${value}`
    values[name] = whole
    secrets.push(value)
    sent.push(whole)
  }
  return { ok: true, texts: values, secrets, sent }
}

/** Values that a server was given and nobody must be told. */
export async function secretsOf (
  server: McpServer, values: SettingValues, shared: SharedForms<readonly string[]>
): Promise<Taken<readonly string[]>> {
  const texts = settingTexts(textsOf(server), values)
  const { secrets, sent } = texts.ok ? texts : { secrets: [], sent: [] }
  return await shared.take(JSON.stringify([secrets, sent]), async () => await secretForms(secrets, sent))
}

export function storedNamesOf (server: McpServer): string[] {
  return Object.values(textsOf(server)).flatMap(text => typeof text !== 'string' && 'secret' in text ? [text.secret] : [])
}

function textsOf ({ connection }: McpServer): Record<string, SettingText> {
  return connection.kind === 'stdio' ? connection.env : { ...connection.headers, url: connection.url }
}

/** Tells whether a connection was opened with the same values of stored secrets. */
export function storedStamp (stored: ReadonlyMap<string, string> | undefined): string {
  return stored === undefined || stored.size === 0 ? '' : createHash('sha256').update(JSON.stringify([...stored].sort())).digest('hex')
}

/** A text of a server without what it was given: it may repeat that. */
export function hidden (text: string, secrets: readonly string[]): string {
  return withoutTexts(text, secrets, '[secret]')
}

/** The same for all texts in a value. */
export function hiddenIn (value: unknown, secrets: readonly string[]): unknown {
  return withoutTextsIn(value, secrets, { mark: '[secret]' })
}
