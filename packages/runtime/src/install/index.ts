export { ensureBubblewrap } from './bubblewrap.ts'
export { installProgram, type InstallHost, type InstallOptions, type InstallResult, type WantedProgram } from './install-program.ts'
export { programPaths } from './program-path.ts'
export { runProgram, type ProgramResult } from './program-run.ts'
