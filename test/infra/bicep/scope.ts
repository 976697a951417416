import type { Declaration, ResourceDeclaration, Template } from './syntax.ts'
import type { ValueType } from './value-type.ts'

/** A declaration with its inferred type and its number of uses. */
export type NamedSymbol = {
  readonly declaration: Declaration
  /** Set during and after the inference of its type. */
  type: ValueType | 'being inferred' | undefined
  uses: number
}

/** The names of a file: its declarations, including nested resources. */
export type Scope = { readonly symbols: ReadonlyMap<string, NamedSymbol>; readonly duplicates: readonly Declaration[] }

/** Outputs have a separate namespace, because expressions cannot refer to them. */
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
