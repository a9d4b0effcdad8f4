/** Where Toolyard doesn't do what a rule says, on purpose: by the rule, what it does instead and why. */
export const deviations: Readonly<Record<string, string>> = {
  A7: 'What a provider would refuse together with all other tools is mended in what is sent to it, and `validate` notes it. Everything else goes out as it was written, and calls are checked against the schema as it was written.',
  AC2: 'A schema that can\'t be used takes away its own entry alone, as it does in the other two formats: one broken pattern isn\'t worth the whole file. Every other fault ends the loading, as the rule says; a validation goes on, to tell the rest.',
  AC10: 'Unknown fields are ignored, but not without a word: each is a warning with the nearest known name, since a misspelt protection protects nothing.'
}
