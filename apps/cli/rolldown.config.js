/**
 * Puts the command, the API and the worker into few files, which start in half the time and keep a fifth less memory. The
 * tarball and the images run them; a checkout has none, so that none is older than its sources.
 *
 * `TOOLYARD_BUNDLED` is the directory of the package as it is laid out for publishing; this one, when it isn't set.
 */
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const app = process.env.TOOLYARD_BUNDLED ?? fileURLToPath(new URL('.', import.meta.url))
const { resolve } = createRequire(join(app, 'package.json'))
const server = name => join(dirname(resolve(name)), 'server.js')
const api = server('@toolyard/api')
/** The module that knows where the programs are. */
const entries = /\/dist\/start\/entries\.js$/

function bundle (dir, input) {
  return {
    input,
    platform: 'node',
    // It looks for its own files.
    external: [/^@bull-board(?:\/|$)/],
    resolve: { mainFields: ['module', 'main'] },
    plugins: [...ofPackages, ownAddress(dir), programs, oneByte],
    output: {
      dir,
      format: 'esm',
      comments: false,
      // Names of functions and classes stay: stack traces tell them, and some errors are known by them.
      minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true }
    }
  }
}

/** A module finds the files beside it where it was, as seen from the bundle. */
function ownAddress (dir) {
  return {
    name: 'own-address',
    transform: {
      filter: { code: /import\.meta\.url/ },
      handler: (code, id) => id.startsWith('\0') || entries.test(id) ? undefined : code.replaceAll(/\bimport\.meta\.url\b/g, `new URL(${JSON.stringify(relative(dir, id))}, import.meta.url).href`)
    }
  }
}

/** What is loaded as CommonJS is put into the bundle too: of BullMQ, whose modules import each other by names, what is used. */
const commonModules = {
  name: 'common-modules',
  transform: {
    filter: { code: /'(?:bullmq|ioredis)/ },
    handler: code => code
      .replace("export const bullmq = load('bullmq')", "export * as bullmq from 'bullmq'")
      .replaceAll(/\b(?:load|createRequire\(import\.meta\.url\))\(('(?:bullmq|ioredis)[^']*')\)/g, 'require($1)')
      .replaceAll("'bullmq/dist/cjs/", "'bullmq/dist/esm/")
  }
}

/**
 * What BullMQ brings and no process here uses: texts for PostgreSQL, calendars of repeated jobs, half a megabyte together, and a native
 * program that no package has, for which each start would look.
 *
 * @type {Record<string, string>}
 */
const empty = {
  'bullmq/dist/esm/postgres/sql-scripts.js': 'export const SQL_COMMANDS = {}\nexport const SQL_MIGRATIONS = {}\n',
  'cron-parser/dist/index.js': 'export const CronExpressionParser = undefined\n',
  'msgpackr-extract/index.js': 'module.exports = undefined\n'
}
const unused = {
  name: 'unused',
  load: {
    filter: { id: new RegExp(`/(?:${Object.keys(empty).join('|')})$`) },
    handler: id => empty[id.slice(id.lastIndexOf('/node_modules/') + '/node_modules/'.length)]
  }
}

/** Of BullMQ and ioredis the bundle has what is used, once; that of tests as well. */
export const ofPackages = [commonModules, unused]

/** The command starts the programs that are in the bundle with it. */
const programs = {
  name: 'programs',
  load: {
    filter: { id: entries },
    handler: () => "import { fileURLToPath } from 'node:url'\nexport const findEntries = () => ({ api: fileURLToPath(new URL('api.js', import.meta.url)), worker: fileURLToPath(new URL('worker.js', import.meta.url)) })\n"
  }
}

/** V8 keeps a source with one character above Latin-1 at two bytes for each. */
const oneByte = {
  name: 'one-byte',
  generateBundle: (_options, files) => {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue
      if (/\\[^\0-\xff]/.test(file.code)) throw new Error(`${file.fileName} has a backslash before a character that is to be escaped`)
      file.code = file.code.replaceAll(/[^\0-\xff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    }
  }
}

/** @param {string} dir */
export const commandBundle = dir => bundle(dir, { main: join(app, 'dist/main.js'), api, worker: server('@toolyard/worker') })

/** The API's image has no other program, and so a bundle of its own. */
export default [
  commandBundle(join(app, 'bundle')),
  ...process.env.TOOLYARD_BUNDLED === undefined ? [bundle(join(dirname(api), '../bundle'), { api })] : []
]
