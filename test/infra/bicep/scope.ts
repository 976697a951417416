import type { Declaration, ResourceDeclaration, Template } from './syntax.ts'
import type { ValueType } from './value-type.ts'

/** A declaration with what has been found out about it. */
export type NamedSymbol = {
  readonly declaration: Declaration
  /** Set while its type is being inferred, and after. */
  type: ValueType | 'being inferred' | undefined
  uses: number
}

/** The names of a file: its declarations, and resources that are declared inside others. */
export type Scope = { readonly symbols: ReadonlyMap<string, NamedSymbol>; readonly duplicates: readonly Declaration[] }

/** Names that outputs have are their own: nothing in the file can refer to an output. */
const REFERABLE = new Set<Declaration['kind']>(['parameter', 'variable', 'resource', 'module', 'type'])

/** Collects the names of a file. */
export function scopeOf(template: Template): Scope {
  const symbols = new Map<string, NamedSymbol>()
  const duplicates: Declaration[] = []
  const outputs = new Set<string>()
  for (const declaration of template.declarations.flatMap(withNested)) {
    const { kind, name } = declaration
    const names: { has: (name: string) => boolean } = kind === 'output' ? outputs : symbols
    if (REFERABLE.has(kind) || kind === 'output') {
      if (names.has(name)) duplicates.push(declaration)
    }
    if (kind === 'output') outputs.add(name)
    else if (REFERABLE.has(kind)) symbols.set(name, { declaration, type: undefined, uses: 0 })
  }
  return { symbols, duplicates }
}

const withNested = (declaration: Declaration): Declaration[] =>
  declaration.kind === 'resource' ? [declaration, ...nestedOf(declaration)] : [declaration]

const nestedOf = (resource: ResourceDeclaration): Declaration[] =>
  resource.body.resources.flatMap((child) => [child, ...nestedOf(child)])
