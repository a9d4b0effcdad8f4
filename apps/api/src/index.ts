export { buildApp, type ApiDeps, type ApiOptions, type App } from './app.ts'
export { openApi, type OpenApi } from './open.ts'
export { runApi } from './run.ts'
export { ToolCatalog } from './tool-catalog.ts'
