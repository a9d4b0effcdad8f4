/** An operation, as far as tests look at it. */
export interface DocumentedOperation {
  operationId: string
  responses: Record<string, { $ref?: string, content?: Record<string, { schema: object }> }>
}

/** A document of OpenAPI, as far as tests look at it. */
export interface OpenApiDocument {
  servers: Array<{ url: string }>
  security: unknown[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: {
    schemas: Record<string, unknown>
    responses: Record<string, { content?: Record<string, { schema: object }> }>
  }
}
