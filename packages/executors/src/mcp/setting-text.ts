import { isSecretVariable } from '@toolyard/contract/terms'
import type { SettingText } from '@toolyard/manifests'

/** Values of texts, and those of them that must not come out again. */
export type SettingTexts = { texts: Record<string, string>, secrets: string[] } | { missing: string }

/** The values of texts that may be in environment variables of the worker, or the first variable that isn't there. */
export function settingTexts (texts: Readonly<Record<string, SettingText>>, env: NodeJS.ProcessEnv): SettingTexts {
  const values: Record<string, string> = {}
  const secrets: string[] = []
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') {
      values[name] = text
      continue
    }
    const value = isSecretVariable(text.setting) ? undefined : env[text.setting]
    if (value === undefined || value === '') return { missing: text.setting }
    values[name] = `${text.prefix ?? ''}${value}`
    secrets.push(value)
  }
  return { texts: values, secrets }
}

/** A text of a server without what it was given: it may repeat that. */
export function hidden (text: string, secrets: readonly string[]): string {
  // The longest first: one may be a part of another.
  return [...secrets].sort((a, b) => b.length - a.length).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
}
