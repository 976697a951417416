import ts from 'typescript'

/** One small change of a source file: the text from `start` to `end` becomes `replacement`. */
export type Mutant = {
  readonly file: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** The expression or statement that the change is a part of. A test that executes its start executes the change. */
  readonly whole: { readonly start: number; readonly end: number; readonly kind: ts.SyntaxKind }
  /** The changed line, from 1, and its text: a reader finds the place by either. */
  readonly line: number
  readonly source: string
  /** `original → replacement`. */
  readonly change: string
}

type Change = {
  readonly node: ts.Node
  readonly replacement: string
  readonly within?: ts.Node
  /** Default: the text of the node and its replacement. */
  readonly label?: string
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
}

const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' }

/** Every mutant of a source file, in the order of the text. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isImportDeclaration(node)) return
    for (const change of changesOf(node)) mutants.push(mutantOf(file, source, change))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants.toSorted((left, right) => left.start - right.start)
}

function mutantOf(file: string, source: ts.SourceFile, { node, replacement, within = node, label }: Change): Mutant {
  const [start, end] = [node.getStart(source), node.getEnd()]
  const line = source.getLineAndCharacterOfPosition(start).line
  const original = source.text.slice(start, end).replace(/\s+/g, ' ')
  return {
    ...{
      file,
      start,
      end,
      replacement,
      whole: { start: within.getStart(source), end: within.getEnd(), kind: within.kind },
    },
    line: line + 1,
    source: (source.text.split('\n')[line] ?? '').trim(),
    change: label ?? `${original} → ${replacement === '' ? 'nothing' : replacement.replace(/\s+/g, ' ')}`,
  }
}

function changesOf(node: ts.Node): readonly Change[] {
  if (ts.isBinaryExpression(node)) return operatorChanges(node)
  if (ts.isIfStatement(node)) return ['true', 'false'].map((replacement) => ({ node: node.expression, replacement }))
  if (ts.isConditionalExpression(node))
    return ['true', 'false'].map((replacement) => ({ node: node.condition, replacement }))
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [{ node, replacement: node.operand.getText() }]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ node, replacement: 'false' }]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ node, replacement: 'true' }]
  if (ts.isNumericLiteral(node)) return [{ node, replacement: String(Number(node.text.replaceAll('_', '')) + 1) }]
  if (ts.isPropertyAccessExpression(node)) return methodChanges(node)
  // A statement for its effect: a call, an assignment, the end of a loop.
  if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isThrowStatement(node))
    return [{ node, replacement: ';' }]
  return []
}

function operatorChanges(node: ts.BinaryExpression): readonly Change[] {
  const operator = node.operatorToken
  // The sum of texts has no difference.
  const isText = operator.kind === ts.SyntaxKind.PlusToken && /['"`]/.test(node.getText())
  const replacements = isText ? [] : (OPERATORS[operator.getText()] ?? [])
  return replacements.map((replacement) => ({
    node,
    // Operators differ in precedence.
    replacement: `((${node.left.getText()}) ${replacement} (${node.right.getText()}))`,
    label: `${operator.getText()} → ${replacement}`,
  }))
}

function methodChanges(node: ts.PropertyAccessExpression): readonly Change[] {
  const called = ts.isCallExpression(node.parent) && node.parent.expression === node
  const other = called && Object.hasOwn(METHODS, node.name.text) ? METHODS[node.name.text] : undefined
  if (other !== undefined) return [{ node: node.name, replacement: other, within: node.parent }]
  // A list without its filter.
  if (called && node.name.text === 'filter') return [{ node: node.parent, replacement: node.expression.getText() }]
  return []
}
