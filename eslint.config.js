import neostandard from 'neostandard'
import tseslint from 'typescript-eslint'

export default [
  { ignores: ['**/dist/', 'test/build/', '.tap/', '.toolyard/', 'workspace/', 'samples/workspace/'] },
  ...neostandard({ ts: true }),
  ...tseslint.configs.recommendedTypeChecked.map(config => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@stylistic/comma-dangle': ['error', 'never'],
      // A TypeBox schema and its type share their name.
      '@typescript-eslint/no-redeclare': 'off',
      // `void` marks a promise that is left on purpose.
      'no-void': 'off',
      'max-lines': ['error', { max: 250 }]
    }
  }
]
