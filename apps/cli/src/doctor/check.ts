export interface Check {
  subject: string
  /** A warning is worth a look, an error keeps the service or a part of it from working as its settings say. */
  verdict: 'good' | 'warning' | 'error'
  detail: string
}
