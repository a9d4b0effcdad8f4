import { isSecretVariable } from '@toolyard/contract/terms'
import type { McpServer, SettingText } from '@toolyard/manifests'
import { secretForms } from '../result/secret-forms.ts'

/** Values of texts, and what of them must not come out again. */
export type SettingTexts = { texts: Record<string, string>, secrets: string[] } | { missing: string }

/** The values of texts that may be in environment variables of the worker, or the first variable that isn't there. */
export function settingTexts (texts: Readonly<Record<string, SettingText>>, env: NodeJS.ProcessEnv): SettingTexts {
  const values: Record<string, string> = {}
  const secrets: string[] = []
  const sent: string[] = []
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') {
      values[name] = text
      continue
    }
    const value = isSecretVariable(text.setting) ? undefined : env[text.setting]
    if (value === undefined || value === '') return { missing: text.setting }
    const whole = `${text.prefix ?? ''}${value}`
    values[name] = whole
    secrets.push(value)
    sent.push(whole)
  }
  return { texts: values, secrets: secretForms(secrets, sent) }
}

/** What a server was given and must not be told to anybody. */
export function secretsOf ({ connection }: McpServer, env: NodeJS.ProcessEnv): readonly string[] {
  const texts = settingTexts(connection.kind === 'stdio' ? connection.env : { ...connection.headers, url: connection.url }, env)
  return 'missing' in texts ? [] : texts.secrets
}

/**
 * A text of a server without what it was given: it may repeat that.
 *
 * @param secrets the longest first: one may be a part of another.
 */
export function hidden (text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
}
