import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Where the API of `npm run dev` listens. */
const api = process.env['TOOLYARD_URL'] ?? 'http://127.0.0.1:3001'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The API writes its base path in front of these.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // Beside the code of the API, which serves it.
    outDir: fileURLToPath(new URL('../api/dist/console', import.meta.url)),
    emptyOutDir: true,
    // The policy allows no `data:` in style sheets and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' }
  },
  server: {
    proxy: { '/v1': { target: api, changeOrigin: true, headers: { origin: api } } }
  }
})
