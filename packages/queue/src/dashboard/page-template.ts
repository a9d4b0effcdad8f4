import type { UIConfig } from '@bull-board/api/typings/app'

/** Makes the page for a browser that sees the board at a path. */
export type PageTemplate = (basePath: string) => string

/** bull-board's buttons for what isn't offered, by their icons; whoever presses one all the same is refused. */
const hidden = `
[role=menuitem]:has(> svg:is(.lucide-plus, .lucide-chart-no-axes-gantt, .lucide-trash-2, .lucide-ban)),
[class*=jobActions] > li:not(:has(svg:is(.lucide-refresh-cw, .lucide-corner-up-left, .lucide-trash-2))) { display: none }
`

/**
 * Fills bull-board's page in. It is a template of EJS with five places, and a link to fonts on another host, which the
 * page does without: nothing is loaded from elsewhere.
 */
export function pageTemplate (ejs: string, uiConfig: UIConfig): PageTemplate {
  const filled = Object.entries({
    '<%= title %>': escape(uiConfig.boardTitle ?? ''),
    '<%= favIconDefault %>': escape(uiConfig.favIcon?.default ?? ''),
    '<%= favIconAlternative %>': escape(uiConfig.favIcon?.alternative ?? ''),
    '<%- uiConfig %>': JSON.stringify(uiConfig).replaceAll('<', '\\u003c')
  }).reduce((page, [place, text]) => page.replaceAll(place, () => text), ejs).replace(/<link href="https:[^>]*>/g, '').replace('</head>', `<style>${hidden}</style></head>`)
  const open = filled.replaceAll(basePlace, '')
  if (open.includes('<%') || !filled.includes(basePlace)) throw new Error("bull-board's page has another form than the one that is known")
  return basePath => filled.replaceAll(basePlace, () => escape(basePath))
}

const basePlace = '<%= basePath %>'

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
