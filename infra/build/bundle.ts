import { globSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
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

const ENTRY = 'functions/all-triggers'

const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  external: [...UNBUNDLED_PACKAGES, SUPPLIED_BY_THE_HOST, COLORS_OF_DEBUG],
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/**
 * Builds the functions with source maps, and the console, into a folder, which is emptied first. `functions` contains
 * one entry file for all triggers, to which `main` in package.json refers. `chunks` contains the code that is loaded on
 * first use. Few large files shorten a cold start, which spends most of its time reading files.
 * @throws Error if a package would lose its exports
 */
export async function bundle(projectFolder: string, outputFolder: string): Promise<void> {
  rmSync(outputFolder, { recursive: true, force: true })
  const { metafile } = await build({
    ...OPTIONS,
    absWorkingDir: projectFolder,
    stdin: { contents: allTriggers(projectFolder), resolveDir: projectFolder, sourcefile: 'all-triggers.js' },
    outdir: outputFolder,
    entryNames: ENTRY,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    banner: { js: BANNER },
  })
  refuseHiddenExports(metafile)
  await moveIntoEntry(metafile, outputFolder)
  await buildConsole(projectFolder, join(outputFolder, 'console'))
}

/** Imports all triggers in the order in which the host loads them. */
function allTriggers(projectFolder: string): string {
  const files = globSync('functions/*.ts', { cwd: projectFolder }).sort()
  return files.map((file) => `import './${file.replaceAll('\\', '/')}'\n`).join('')
}

/** The chunks that the entry file needs at its start: it shares them with code that is loaded on first use. */
function startChunks({ outputs }: Metafile): string[] {
  const files = new Set(Object.keys(outputs).filter((path) => path.endsWith(`${ENTRY}.js`)))
  // A set visits what is added during the loop as well.
  for (const path of files) {
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) files.add(imported)
    }
  }
  return [...files].slice(1)
}

/** Leaves the imports of code that is loaded on first use as they are, and each file without its banner. */
const FILES_OF_START: Plugin = {
  name: 'files-of-start',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/chunks\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    )
    onLoad({ filter: /\.js$/ }, async ({ path }) => ({ contents: (await readFile(path, 'utf8')).replace(BANNER, '') }))
  },
}

/**
 * Moves chunks into the entry file, from which later code gets what it shares with it: each file that is read makes a
 * start longer by a twentieth, however small it is.
 * @throws Error if two chunks export one name
 */
async function moveIntoEntry(bundled: Metafile, outputFolder: string): Promise<void> {
  const chunks = startChunks(bundled)
  const files = chunks.map((path) => join(outputFolder, 'chunks', basename(path)))
  const entry = join(outputFolder, `${ENTRY}.js`)
  const { metafile } = await build({
    ...OPTIONS,
    absWorkingDir: outputFolder,
    stdin: { contents: [entry, ...files].map(exportsOf).join(''), resolveDir: outputFolder },
    outfile: entry,
    allowOverwrite: true,
    plugins: [FILES_OF_START],
    banner: { js: BANNER },
  })
  // A name that two files export is exported by neither: later code would not load.
  const exported = new Set(Object.values(metafile.outputs).flatMap((output) => output.exports))
  const lost = chunks.flatMap((path) => bundled.outputs[path]?.exports ?? []).filter((name) => !exported.has(name))
  if (lost.length > 0) throw new Error(`The entry file does not export ${lost.join(', ')}`)
  for (const file of files) {
    writeFileSync(file, exportsOf(`../${ENTRY}.js`))
    rmSync(`${file}.map`)
  }
}

const exportsOf = (file: string): string => `export * from ${JSON.stringify(file)}\n`

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
