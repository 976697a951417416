/** A place in a file. The path is relative to the project folder; the first line is 1. */
export type Location = { readonly file: string; readonly line: number }

type At<Kind extends string> = { readonly kind: Kind; readonly at: Location }

export type StringExpression = At<'string'> & { readonly parts: readonly (string | Expression)[] }
export type ObjectExpression = At<'object'> & {
  readonly entries: readonly ObjectEntry[]
  /** Resources nested in this one. */
  readonly resources: readonly ResourceDeclaration[]
}
/** An interpolated name is an expression. */
export type ObjectEntry = { readonly name: string | Expression; readonly value: Expression; readonly at: Location }
export type ForExpression = At<'for'> & {
  readonly item: string
  readonly index: string | undefined
  readonly source: Expression
  readonly condition: Expression | undefined
  readonly body: Expression
}
export type CallExpression = At<'call'> & {
  readonly name: string
  /** The expression before the dot, as in `account.listKeys()`. */
  readonly receiver: Expression | undefined
  readonly arguments: readonly Expression[]
}
export type MemberExpression = At<'member'> & {
  readonly object: Expression
  readonly name: string
  /** True for `.?`, which returns null for an absent member. */
  readonly safe: boolean
}

export type Expression =
  | StringExpression
  | ObjectExpression
  | ForExpression
  | CallExpression
  | MemberExpression
  | (At<'number'> & { readonly value: number })
  | (At<'boolean'> & { readonly value: boolean })
  | At<'null'>
  | (At<'array'> & { readonly items: readonly Expression[] })
  | (At<'name'> & { readonly name: string })
  | (At<'index'> & { readonly object: Expression; readonly index: Expression; readonly safe: boolean })
  | (At<'nested'> & { readonly object: Expression; readonly name: string })
  | (At<'unary'> & { readonly operator: string; readonly argument: Expression })
  | (At<'binary'> & { readonly operator: string; readonly left: Expression; readonly right: Expression })
  | (At<'ternary'> & {
      readonly condition: Expression
      readonly consequence: Expression
      readonly alternative: Expression
    })
  | (At<'lambda'> & { readonly parameters: readonly string[]; readonly body: Expression })

/** The type expression after the name of a parameter or an output. */
export type TypeExpression =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'array'; readonly item: TypeExpression }
  | { readonly kind: 'union'; readonly options: readonly TypeExpression[] }
  | { readonly kind: 'object'; readonly properties: readonly { name: string; type: TypeExpression }[] }
  /** A type that is not checked, such as `resource<'...'>`. */
  | { readonly kind: 'other' }

type Declared<Kind extends string> = At<Kind> & {
  readonly name: string
  readonly decorators: readonly CallExpression[]
}

/** A resource or a module. Its loop and its condition are separate from its body. */
type Deployed<Kind extends string> = Declared<Kind> & {
  readonly loop: Omit<ForExpression, 'body' | 'kind' | 'condition'> | undefined
  readonly condition: Expression | undefined
  readonly body: ObjectExpression
}

export type ParameterDeclaration = Declared<'parameter'> & {
  readonly type: TypeExpression
  readonly default: Expression | undefined
}
export type OutputDeclaration = Declared<'output'> & { readonly type: TypeExpression; readonly value: Expression }
export type ResourceDeclaration = Deployed<'resource'> & {
  /** As in the source: `<type>@<version>`, or the last part of the type for a nested resource without a version. */
  readonly type: string
  readonly existing: boolean
}
export type ModuleDeclaration = Deployed<'module'> & { readonly path: string }

export type Declaration =
  | ParameterDeclaration
  | OutputDeclaration
  | ResourceDeclaration
  | ModuleDeclaration
  | (Declared<'variable'> & { readonly value: Expression })
  | (Declared<'type'> & { readonly type: TypeExpression })
  | (Declared<'scope'> & { readonly value: string })

/** A parsed file. */
export type Template = {
  readonly file: string
  readonly text: string
  readonly declarations: readonly Declaration[]
}
