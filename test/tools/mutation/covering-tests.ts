import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export type NearTest = {
  readonly file: string
  /** Imports between the test and the module: 1 imports it directly. */
  readonly distance: number
  /** It imports no local server. */
  readonly isPure: boolean
}

/** The tests that import a module, directly or not. Those without a local server come first, then the nearest. */
export function nearestTests(project: string, tests: readonly string[], module: string): readonly NearTest[] {
  const imports = new Map<string, readonly string[]>()
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file) ?? relativeImports(project, file)
    imports.set(file, known)
    return known
  }
  const found = tests.flatMap((file) => {
    const distance = distanceTo(file, (each) => each === module, importsOf)
    if (distance === undefined) return []
    return [{ file, distance, isPure: distanceTo(file, isLocalServer, importsOf) === undefined }]
  })
  return found.sort((left, right) => Number(right.isPure) - Number(left.isPure) || left.distance - right.distance)
}

const isLocalServer = (file: string): boolean => file.startsWith('infra/local/')

function relativeImports(project: string, file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(project, file), 'utf8'))
  return importedFiles.flatMap(({ fileName }) =>
    fileName.startsWith('.') && fileName.endsWith('.ts') ? [normalize(join(dirname(file), fileName))] : [],
  )
}

function distanceTo(
  from: string,
  isReached: (file: string) => boolean,
  importsOf: (file: string) => readonly string[],
): number | undefined {
  const seen = new Set([from])
  let [level, distance] = [[from], 0]
  for (; level.length > 0; distance += 1) {
    if (level.some(isReached)) return distance
    level = [...new Set(level.flatMap(importsOf))].filter((file) => !seen.has(file))
    for (const file of level) seen.add(file)
  }
  return undefined
}

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number }
/**
 * The executed ranges of source files. Types are replaced by blanks at load, so that offsets are those of the source.
 */
export type Coverage = ReadonlyMap<string, readonly Range[]>

/** Reads what a process has written to its `NODE_V8_COVERAGE` folder. */
export function readCoverage(folder: string, project: string): Coverage {
  const ranges = new Map<string, Range[]>()
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      result: { url: string; functions: { ranges: Range[] }[] }[]
    }
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue
      const file = fileURLToPath(url).slice(project.length + 1)
      ranges.set(file, [...(ranges.get(file) ?? []), ...functions.flatMap(({ ranges }) => ranges)])
    }
  }
  return ranges
}

/** Whether a position was executed: the innermost range around it decides. */
export function isCovered(coverage: Coverage, file: string, position: number): boolean {
  const around = (coverage.get(file) ?? []).filter(
    ({ startOffset, endOffset }) => startOffset <= position && position < endOffset,
  )
  const innermost = around.toSorted(
    (left, right) => left.endOffset - left.startOffset - (right.endOffset - right.startOffset),
  )[0]
  return innermost !== undefined && innermost.count > 0
}
