import { limits } from '@toolyard/contract/terms'

/** Bounds of this package: what a manifest or a call's arguments may cost. */
export const manifestLimits = {
  /** Bytes of one manifest file; 1,000 tools with large schemas need about 2 MiB. */
  fileBytes: 10_485_760,
  /** Bytes of the SKILL.md of a skill: more than any model is told at once. */
  skillBytes: 1_048_576,
  /** UTF-16 units of a skill's front matter. */
  frontMatterChars: 16_384,
  /** Values, and UTF-16 units of texts, that a front matter may hold once its aliases are followed. */
  frontMatterExpansion: 131_072,
  /** Bytes of one YAML file, whose reading takes a hundred times longer than that of JSON: about 1 s for 1 MB. */
  yamlBytes: 2_097_152,
  /** Megabytes of heap that reading a YAML file may take. */
  yamlHeapMb: 512,
  /** Milliseconds that reading a YAML file may take: a last resort. */
  yamlMs: 20_000,
  /** Values, and UTF-16 units of texts, that a YAML file may hold once its aliases are followed. */
  yamlExpansion: 4_194_304,
  /** Tools of all manifests together: 50 MB or so in each process. */
  tools: 50_000,
  /** Words that an entry may be found by, and UTF-16 units of one. */
  tags: 50,
  tagChars: 100,
  /** Findings that are listed of one manifest. */
  findings: 1_000,
  /** Times that aliases of a YAML text may be followed; more is a bomb. */
  yamlAliases: 100,
  /** Processes of one tool that may wait ready in each worker. */
  warm: limits.warm.max,
  /** Levels of nesting in a manifest. */
  depth: 100,
  /** Subschemas in one tool's schema. */
  schemaNodes: 5_000,
  /** A schema that costs more, in keywords, isn't compiled on the main thread: these take some 20 ms. */
  smallSchemaCost: 100,
  /** Milliseconds that a thread may take for one large schema, or for arguments, and megabytes of heap that it has: last resorts. */
  schemaMs: 60_000,
  schemaHeapMb: 512,
  /** Milliseconds that a thread may take for arguments where a pattern can backtrack. */
  backtrackMs: 2_000,
  /** Large schemas that stay compiled. */
  compiledSchemas: 500,
  /** UTF-16 units of one pattern in a schema. */
  patternChars: 1_000,
  /** Characters of texts multiplied by the places of the patterns that they are tested with, in one validation: some 3 s in the thread. */
  patternSteps: 200_000_000,
  /** Places of all patterns in the schema of a question, which a tool writes at each call: to compile them takes some 50 ms. */
  questionPlaces: 30_000,
  /** Problems that are named when arguments are refused. */
  issues: 10,
  /** UTF-16 units of a path or of a caller's text inside an issue. */
  issueTextChars: 200,
  /** Values in arguments up to which every problem is looked for; above, the first one is reported. */
  thoroughValues: 2_000,
  /** Steps of a validation on the event loop, which take some 5 ms; what takes more is validated in a thread. */
  quickSteps: 20_000,
  /** Steps that a validation may take at all; that many take some 0.3 s. */
  mostSteps: 2_000_000
} as const
