/** Something that the operator should know about a manifest; shown at start, in `validate` and in logs. */
export interface Finding {
  /** An error means that something declared is not served; a warning, that it is served but should be looked at. */
  severity: 'error' | 'warning'
  /** Absolute path of the manifest. */
  file: string
  /** Number of the rule that is not kept, such as `A35`. */
  rule: string
  /** Place in the manifest's list of tools, from 0. */
  index?: number
  tool?: string
  /** The exact text of the rule where it has one. */
  message: string
  /** What to do about it. */
  fix?: string
}

/** Where in a manifest a fault is, and how to mend it. */
export interface FaultPlace {
  index?: number
  tool?: string
  fix?: string
}

/** Ends the reading of one manifest (AC2); its reader turns it into a finding. */
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
