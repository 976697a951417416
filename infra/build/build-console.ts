import { globSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { ASSET_LIST, type AssetList } from '../../functions/app/console-files.ts'

const SOURCES = 'functions/console'

/**
 * Builds the browser code of the console into a folder. File names contain a hash of the content, so that browsers can
 * keep the files. The list of entry files is replaced last: a reader sees the former build or this one.
 */
export async function buildConsole(projectFolder: string, outputFolder: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    entryPoints: { console: `${SOURCES}/main.tsx`, style: `${SOURCES}/style.css`, icon: `${SOURCES}/icon.svg` },
    outdir: outputFolder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    metafile: true,
    logLevel: 'warning',
  })
  const outputs = Object.entries(metafile.outputs)
  const builtFrom = (entry: string): string => {
    const output = outputs.find(([, { entryPoint, inputs }]) => (entryPoint ?? Object.keys(inputs)[0])?.endsWith(entry))
    if (output === undefined) throw new Error(`The build has no output of ${entry}`)
    return basename(output[0])
  }
  const assets: AssetList = {
    script: builtFrom('main.tsx'),
    style: builtFrom('style.css'),
    icon: builtFrom('icon.svg'),
  }
  const unfinished = join(outputFolder, `${ASSET_LIST}.${process.pid}`)
  writeFileSync(unfinished, JSON.stringify(assets))
  renameSync(unfinished, join(outputFolder, ASSET_LIST))
}

/** Builds the console into a folder if a source file is newer than the build there, or if there is no build. */
export async function buildConsoleIfOutdated(projectFolder: string, outputFolder: string): Promise<void> {
  const builtMs = changedMs(join(outputFolder, ASSET_LIST))
  const sources = globSync(`${SOURCES}/**/*.{ts,tsx,css,svg}`, { cwd: projectFolder })
  const isCurrent = sources.every((file) => changedMs(join(projectFolder, file)) < builtMs)
  if (!isCurrent) await buildConsole(projectFolder, outputFolder)
}

/** Zero for a missing file. */
function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
