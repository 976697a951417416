import ts from 'typescript'
import type { Mutant } from './mutants.ts'

/** A source that contains its mutants. The switch decides which of them runs. */
export type SwitchedSource = {
  readonly text: string
  /** By number, from 1. */
  readonly mutants: ReadonlyMap<number, Mutant>
}

/**
 * Puts the mutants of a file into its text. Those that are evaluated once, when the module is loaded, are left out, as
 * are those in places where no expression can be.
 * @param switchUrl URL of the module that exports `activeMutant`.
 */
export function switchedSource(text: string, all: readonly Mutant[], switchUrl: string): SwitchedSource {
  const source = ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest, true)
  const places = new Map<ts.Node, [number, Mutant][]>()
  const mutants = new Map<number, Mutant>()
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    const [start, end] = [node.getStart(source), node.getEnd()]
    for (const mutant of all) {
      const { whole } = mutant
      if (whole.start !== start || whole.end !== end || whole.kind !== node.kind) continue
      if (!isInFunction || !isReplaceable(node)) continue
      const number = mutants.size + 1
      mutants.set(number, mutant)
      places.set(node, [...(places.get(node) ?? []), [number, mutant]])
    }
    ts.forEachChild(node, (child) => visit(child, isInFunction || ts.isFunctionLike(node)))
  }
  visit(source, false)
  const written = (node: ts.Node): string => {
    let [result, position] = ['', node.getStart(source)]
    const copy = (child: ts.Node): void => {
      if (places.has(child)) {
        result += text.slice(position, child.getStart(source)) + written(child)
        position = child.getEnd()
      } else ts.forEachChild(child, copy)
    }
    ts.forEachChild(node, copy)
    const original = result + text.slice(position, node.getEnd())
    return (places.get(node) ?? []).reduce(
      (inner, [number, mutant]) => switched(node, inner, number, mutant, text),
      original,
    )
  }
  return { text: `import { activeMutant } from '${switchUrl}'; ${written(source)}`, mutants }
}

function switched(node: ts.Node, inner: string, number: number, mutant: Mutant, text: string): string {
  if (ts.isStatement(node)) return `{ if (activeMutant !== ${number}) { ${inner} } }`
  const { whole, start, end, replacement } = mutant
  const changed = text.slice(whole.start, start) + replacement + text.slice(end, whole.end)
  return `(activeMutant === ${number} ? (${changed}) : (${inner}))`
}

/** Names of properties are no expressions. The end of an optional chain cannot be cut off. */
function isReplaceable(node: ts.Node): boolean {
  if (ts.isStatement(node)) return true
  const isName = ts.isPropertyAssignment(node.parent) && node.parent.name === node
  return !isName && (node.flags & ts.NodeFlags.OptionalChain) === 0
}
