import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

/**
 * Packages that are not bundled: they lie beside the bundle as they are. The Functions library, because two copies of it
 * would register into different models; the reference page's, because it is files to serve and not code to run.
 */
export const UNBUNDLED_PACKAGES = ['@azure/functions', 'swagger-ui-dist'] as const

/** What the Functions library asks for and only the host has. */
const SUPPLIED_BY_THE_HOST = '@azure/functions-core'

/** Modules of CommonJS that are bundled into ES modules still call `require` for what Node has built in. */
const BANNER = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`

/**
 * Builds the functions into a folder, emptied before: one entry file for all triggers under `functions`, where `main` of
 * package.json looks, and under `chunks` what they load when first used. With source maps.
 * Few large files, because a cold start is for the most part the reading of many small ones.
 * @throws Error when a package would come without its exports
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
    external: [...UNBUNDLED_PACKAGES, SUPPLIED_BY_THE_HOST],
    banner: { js: BANNER },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
  refuseHiddenExports(metafile)
}

/** In the order in which the host would load them one by one. */
function allTriggers(projectFolder: string): string {
  const files = globSync('functions/*.ts', { cwd: projectFolder }).sort()
  return files.map((file) => `import './${file.replaceAll('\\', '/')}'\n`).join('')
}

/** A CommonJS package that is imported dynamically comes out of the bundler with a default export and nothing else. */
function refuseHiddenExports({ inputs }: Metafile): void {
  const hidden = Object.entries(inputs).flatMap(([importer, { imports }]) =>
    imports
      .filter(({ kind, path, external }) => kind === 'dynamic-import' && !external && inputs[path]?.format === 'cjs')
      .filter(() => !importer.includes('node_modules/'))
      .map(({ path }) => `${importer} imports ${path}`),
  )
  if (hidden.length > 0) {
    throw new Error(`A dynamic import of a CommonJS package has no named exports once bundled: ${hidden.join('; ')}`)
  }
}

if (import.meta.main) {
  const projectFolder = join(import.meta.dirname, '../..')
  await bundle(projectFolder, join(projectFolder, 'dist'))
}
