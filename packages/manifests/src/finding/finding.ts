/** Something that the operator should know about a manifest; shown at start, in `validate` and in logs. */
export interface Finding extends FaultPlace {
  /**
   * An error means that something declared is not served; a warning, that it is
   * served but should be looked at; a note is advice about models.
   */
  severity: 'error' | 'warning' | 'note'
  /** A warning that is an error to `validate`: the manifest is served, but lacks what its format requires. */
  nonconforming?: true
  /** Others than its owner may replace what the tool runs: an error, and the tool isn't served, where programs must be trusted. */
  untrusted?: true
  /** Nothing of the manifest is served because of it, wherever in the file it stands. */
  whole?: true
  /** Absolute path of the manifest. */
  file: string
  /** Number of the rule that is not kept, such as `A35`; `lint/…` for advice about models. */
  rule: string
  /** The exact text of the rule where it has one. */
  message: string
}

/** Names of fields and places in lists, from the root of a document. */
export type DocumentPath = ReadonlyArray<string | number>

export interface FaultPlace {
  /** Place in the manifest's list of tools, from 0. */
  index?: number
  tool?: string
  path?: DocumentPath
  /** Position in the file, from 1, where it is known. */
  line?: number
  column?: number
  fix?: string
}

/** A field that is not as its definition says, or that no definition has. */
export interface FieldFault {
  path: DocumentPath
  rule: string
  message: string
  fix: string
}

/** A fault of a manifest, or of a part of it; its reader turns it into a finding. */
export class ManifestFault extends Error {
  override readonly name = 'ManifestFault'
  readonly rule: string
  readonly place: FaultPlace

  constructor (rule: string, message: string, place: FaultPlace = {}) {
    super(message)
    this.rule = rule
    this.place = place
  }
}

/** For a fault that leaves nothing of its manifest to serve. */
export function wholeFinding ({ rule, message, place }: ManifestFault, file: string): Finding {
  return { severity: 'error', whole: true, file, rule, message, ...place }
}
