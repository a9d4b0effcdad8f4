/** The page `/docs`. Its parts come from below its own path. */
export function docsPage (basePath: string, version: string): string {
  const part = (name: string): string => `${basePath}/docs/${name}?v=${version}`
  return `<!doctype html>
<html lang="en" data-base="${basePath}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Toolyard API</title>
<link rel="icon" type="image/png" href="${part('favicon-32x32.png')}">
<link rel="stylesheet" href="${part('swagger-ui.css')}">
<link rel="stylesheet" href="${part('page.css')}">
</head>
<body>
<header>
<form id="key-form">
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<button>Show the tools of this key</button>
<a href="${basePath}/openapi.json">openapi.json</a>
<a href="${basePath}/">Console</a>
<output id="status" for="key"></output>
</form>
</header>
<main id="swagger-ui"></main>
<noscript>This page needs JavaScript. The document is at ${basePath}/openapi.json.</noscript>
<script src="${part('swagger-ui-bundle.js')}"></script>
<script type="module" src="${part('script.js')}"></script>
</body>
</html>
`
}

/** Its own style sheet, beside that of Swagger UI. */
export const docsStyle = `
body { margin: 0; font-family: sans-serif; color: #1f2328; background: #fff; }
header { padding: 12px 20px; border-bottom: 1px solid #d0d7de; }
form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; max-width: 1420px; margin: 0 auto; }
form input, form button { font: inherit; padding: 6px 10px; border: 1px solid #6e7781; border-radius: 6px; color: inherit; background: transparent; }
form button { cursor: pointer; }
form a { color: #0550ae; }
.swagger-ui .servers, .swagger-ui .servers-title { display: none; }
.swagger-ui .scheme-container { padding: 12px 0; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #24292f; }
.swagger-ui .info .title small pre { color: #fff; }
.swagger-ui .info a, .swagger-ui .info a:hover { color: #0550ae; }
.swagger-ui .btn.authorize { color: #116239; border-color: #116239; }
.swagger-ui .btn.authorize svg { fill: #116239; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0b5cad; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #11663f; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0f6466; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #a8201a; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b00; }
.swagger-ui .header-col, .swagger-ui .response-col_links, .swagger-ui .parameter__type, .swagger-ui .parameter__in { color: inherit; opacity: 1; }
.swagger-ui table.headers td, .swagger-ui .headers .header-example { color: inherit; }
.swagger-ui .response-undocumented, .swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span { color: #b3181d; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #6f2da8; overflow-wrap: anywhere; }
.swagger-ui .opblock-summary { flex-wrap: wrap; }
.swagger-ui .opblock-body, .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 8px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-summary-description { flex-basis: 100%; padding: 4px 0; }
}
:focus-visible { outline: 2px solid #0969da; outline-offset: 2px; }
.dark-mode body { color: #e6edf3; background: #1c2022; }
.dark-mode header { border-color: #3d444d; }
.dark-mode .swagger-ui .info a, .dark-mode .swagger-ui .info a:hover { color: #79c0ff; }
.dark-mode .swagger-ui .btn.authorize { color: #5ddf9f; border-color: #5ddf9f; }
.dark-mode .swagger-ui .btn.authorize svg { fill: #5ddf9f; }
.dark-mode .swagger-ui .opblock .opblock-summary .opblock-summary-method { color: #fff; }
.dark-mode .swagger-ui .markdown code, .dark-mode .swagger-ui .renderedMarkdown code { color: #d2a8ff; }
.dark-mode .swagger-ui .response-undocumented, .dark-mode .swagger-ui .parameter__name.required::after,
.dark-mode .swagger-ui .parameter__name.required span { color: #ff9a94; }
.dark-mode form a { color: #79c0ff; }
.dark-mode :focus-visible { outline-color: #79c0ff; }
`
