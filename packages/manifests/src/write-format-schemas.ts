/** `npm run schemas`: writes the JSON Schemas of the formats into `packages/manifests/schemas`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { formatSchemas } from './format-schemas.ts'

const directory = fileURLToPath(new URL('../schemas', import.meta.url))
await mkdir(directory, { recursive: true })
for (const { file, schema } of formatSchemas()) await writeFile(join(directory, file), `${JSON.stringify(schema, undefined, 2)}\n`)
