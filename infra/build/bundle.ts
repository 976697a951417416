import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { buildConsole } from './build-console.ts'

/**
 * Packages that are shipped unbundled. Two copies of the Functions library would register into different models. The
 * package of the reference page contains static files and no code to run.
 */
export const UNBUNDLED_PACKAGES = ['@azure/functions', 'swagger-ui-dist'] as const

/** A module that the Functions library imports and the host provides. */
const SUPPLIED_BY_THE_HOST = '@azure/functions-core'

/** A package of development tools, which `debug` uses where it is installed. */
const COLORS_OF_DEBUG = 'supports-color'

/** Bundled CommonJS modules call `require` for built-in modules of Node.js. */
const BANNER = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`

/**
 * Builds the functions with source maps, and the console, into a folder, which is emptied first. `functions` contains
 * one entry file for all triggers, to which `main` in package.json refers. `chunks` contains the code that is loaded on
 * first use. Few large files shorten a cold start, which spends most of its time reading files.
 * @throws Error if a package would lose its exports
 */
export async function bundle(projectFolder: string, outputFolder: string): Promise<void> {
  rmSync(outputFolder, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    stdin: { contents: allTriggers(projectFolder), resolveDir: projectFolder, sourcefile: 'all-triggers.js' },
    outdir: outputFolder,
    entryNames: 'functions/all-triggers',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    external: [...UNBUNDLED_PACKAGES, SUPPLIED_BY_THE_HOST, COLORS_OF_DEBUG],
    banner: { js: BANNER },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
  refuseHiddenExports(metafile)
  await buildConsole(projectFolder, join(outputFolder, 'console'))
}

/** Imports all triggers in the order in which the host loads them. */
function allTriggers(projectFolder: string): string {
  const files = globSync('functions/*.ts', { cwd: projectFolder }).sort()
  return files.map((file) => `import './${file.replaceAll('\\', '/')}'\n`).join('')
}

/** The bundler keeps only the default export of a CommonJS package that is imported dynamically. */
function refuseHiddenExports({ inputs }: Metafile): void {
  const hidden = Object.entries(inputs).flatMap(([importer, { imports }]) =>
    imports
      .filter(({ kind, path, external }) => kind === 'dynamic-import' && !external && inputs[path]?.format === 'cjs')
      .filter(() => !importer.includes('node_modules/'))
      .map(({ path }) => `${importer} imports ${path}`),
  )
  if (hidden.length > 0) {
    throw new Error(`A dynamic import of a CommonJS package has no named exports after bundling: ${hidden.join('; ')}`)
  }
}

if (import.meta.main) {
  const projectFolder = join(import.meta.dirname, '../..')
  await bundle(projectFolder, join(projectFolder, 'dist'))
}
