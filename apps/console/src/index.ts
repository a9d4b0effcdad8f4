export { snippetsOf, type Snippet } from './jobs/snippet-texts.ts'
export { hrefOf, readRoute, type Route } from './parts/route.ts'
export { argumentsOf, fieldsOf, type FormField } from './tools/form-fields.ts'
export { ago, bytes, duration, span } from './parts/times.ts'
