import { orElse } from '@toolyard/contract/terms'
import { useEffect, useState } from 'preact/hooks'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = typeof themes[number]

const place = 'toolyard-theme'

/** The theme that a person has chosen, and how it is changed; it holds for the next visit too. */
export function useTheme (): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => themes.find(each => each === stored()) ?? 'system')
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
    try {
      localStorage.setItem(place, theme)
    } catch { /* Storage is switched off: the choice holds for this visit. */ }
  }, [theme])
  return [theme, setTheme]
}

function stored (): string | null {
  return orElse(() => localStorage.getItem(place), null)
}
