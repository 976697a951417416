import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Test files by their distance to a module in the graph of imports: 1 imports it directly. */
export function testsByDistance(project: string, tests: readonly string[], module: string): Map<string, number> {
  const imports = new Map<string, readonly string[]>()
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file) ?? relativeImports(project, file)
    imports.set(file, known)
    return known
  }
  const found = tests.flatMap((test) => {
    const distance = distanceTo(test, module, importsOf)
    return distance === undefined ? [] : [[test, distance] as const]
  })
  return new Map(found.sort(([, one], [, other]) => one - other))
}

function relativeImports(project: string, file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(project, file), 'utf8'))
  return importedFiles.flatMap(({ fileName }) =>
    fileName.startsWith('.') && fileName.endsWith('.ts') ? [normalize(join(dirname(file), fileName))] : [],
  )
}

function distanceTo(from: string, to: string, importsOf: (file: string) => readonly string[]): number | undefined {
  const seen = new Set([from])
  let [level, distance] = [[from], 0]
  for (; level.length > 0; distance += 1) {
    if (level.includes(to)) return distance
    level = [...new Set(level.flatMap(importsOf))].filter((file) => !seen.has(file))
    for (const file of level) seen.add(file)
  }
  return undefined
}

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number }
/** The executed ranges of source files. Types are replaced by blanks at load, so that offsets are those of the source. */
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
      ranges.set(file, [...(ranges.get(file) ?? []), ...functions.flatMap((each) => each.ranges)])
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
    (one, other) => one.endOffset - one.startOffset - (other.endOffset - other.startOffset),
  )[0]
  return innermost !== undefined && innermost.count > 0
}
