import type { Json } from '../../../../shared/kernel/json.ts'

export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A parsed expression. An empty property path is the whole document. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'property'; readonly path: readonly string[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | {
      readonly kind: 'compare'
      readonly operator: ComparisonOperator
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly kind: 'in'; readonly operand: Expression; readonly options: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly operands: readonly Expression[] }
  | { readonly kind: 'array'; readonly items: readonly Expression[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] }

export type Member = { readonly name: string; readonly expression: Expression }

export type Projection =
  | { readonly kind: 'document' }
  | { readonly kind: 'count' }
  | { readonly kind: 'value'; readonly expression: Expression }
  | { readonly kind: 'properties'; readonly members: readonly Member[] }

export type Query = {
  readonly select: Projection
  /** Whether equal results are returned once. */
  readonly isDistinct: boolean
  readonly where: Expression | undefined
  readonly order: { readonly path: readonly string[]; readonly isDescending: boolean } | undefined
  /** Literals or parameters, resolved with the request's values. */
  readonly top: Expression | undefined
  readonly offset: Expression | undefined
  readonly limit: Expression | undefined
}

/** The supported functions, with their minimum and maximum number of arguments. */
export const FUNCTIONS = {
  IS_DEFINED: [1, 1],
  IS_NULL: [1, 1],
  ARRAY_CONTAINS: [2, 2],
  STARTSWITH: [2, 3],
  CONTAINS: [2, 3],
  STRINGEQUALS: [2, 3],
} as const satisfies Record<string, readonly [number, number]>

export type FunctionName = keyof typeof FUNCTIONS

/** Reserved words. A property with such a name is written as `c["order"]`. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `AND ARRAY AS ASC BETWEEN BY DESC DISTINCT EXISTS FALSE FROM GROUP IN JOIN LIKE LIMIT NOT NULL OFFSET OR ORDER
   SELECT TOP TRUE UNDEFINED VALUE WHERE`.split(/\s+/),
)
