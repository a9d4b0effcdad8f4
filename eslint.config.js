import neostandard from 'neostandard'
import tseslint from 'typescript-eslint'

export default [
  { ignores: ['**/dist/', 'apps/console/vite.config.ts', 'test/build/', 'test/bundle/', '.tap/', '.toolyard/', 'workspace/', 'samples/workspace/'] },
  ...neostandard({ ts: true }),
  ...tseslint.configs.recommendedTypeChecked.map(config => ({ ...config, files: ['**/*.ts', '**/*.tsx'] })),
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // tap keeps the promises of its subtests itself.
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', package: '@tapjs/core', name: 'test' }, { from: 'package', package: '@tapjs/test', name: 'test' }] }],
      // `async` promises a promise, also where nothing is awaited (yet).
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@stylistic/comma-dangle': ['error', 'never'],
      // A TypeBox schema and its type share their name.
      '@typescript-eslint/no-redeclare': 'off',
      // `void` marks a promise that is left on purpose.
      'no-void': 'off',
      'max-lines': ['error', { max: 250 }],
      '@stylistic/max-len': ['error', { code: 140, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignoreUrls: true }]
    }
  },
  {
    // What a type only asserts, nothing checks. What another part of the same release wrote is read by `storedJson`,
    // or `fromRedis` (packages/store). Tests know what they made.
    files: ['apps/*/src/**/*.{ts,tsx}', 'packages/*/src/**/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-type-assertion': 'error' }
  },
  {
    files: ['packages/*/src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', {
        paths: ['bullmq', 'ioredis'].map(name => ({ name, allowTypeImports: true, message: 'Import types alone; take the values from ioredis.ts of packages/store or bullmq.ts of packages/queue, which load them 40 ms faster.' }))
      }]
    }
  }
]
