import { checkAssignable } from './assignable.ts'
import type { AzureTypes } from './azure-types.ts'
import { type Report, suggestion } from './fault.ts'
import { FUNCTIONS, KEY_FUNCTIONS, resultOf } from './functions.ts'
import type { Scope } from './scope.ts'
import type {
  CallExpression,
  Expression,
  ForExpression,
  MemberExpression,
  ObjectExpression,
  StringExpression,
} from './syntax.ts'
import {
  ANY,
  arrayOf,
  BOOL,
  choiceOf,
  INT,
  membersOf,
  nameOf,
  OPEN_OBJECT,
  optionsOf,
  type Property,
  STRING,
  type ValueType,
} from './value-type.ts'

/** The variables of the loops and lambdas around an expression. */
export type Locals = ReadonlyMap<string, ValueType>

/** What inference needs from the file of the expression. */
export type Inference = {
  readonly scope: Scope
  readonly azureTypes: AzureTypes
  readonly report: Report
  /** The type of a declaration of this file; counts as a use. Undefined: there is no such name. */
  readonly typeOfName: (name: string) => ValueType | undefined
}

/** Infers the type of an expression, and reports the errors in it. */
export function infer(expression: Expression, locals: Locals, context: Inference): ValueType {
  const of = (each: Expression) => infer(each, locals, context)
  const { at } = expression
  switch (expression.kind) {
    case 'string':
      for (const each of expression.parts) if (typeof each !== 'string') of(each)
      return stringType(expression)
    case 'number':
      return { kind: 'int', at, value: expression.value }
    case 'boolean':
      return { kind: 'bool', at, value: expression.value }
    case 'null':
      return { kind: 'null', at }
    case 'array': {
      const items = expression.items.map(of)
      return { kind: 'array', at, item: () => (items.length === 0 ? ANY : choiceOf(items)) }
    }
    case 'object':
      return inferObject(expression, locals, context)
    case 'for':
      return inferFor(expression, locals, context)
    case 'name':
      return inferName(expression, locals, context)
    case 'member':
      return memberType(of(expression.object), expression, context)
    case 'index':
      return itemType(of(expression.object), of(expression.index), expression, context)
    case 'nested': {
      const object = of(expression.object)
      return object.kind === 'resource' ? (object.children.get(expression.name)?.type() ?? ANY) : ANY
    }
    case 'call':
      return inferCall(expression, locals, context)
    case 'lambda': {
      const inner = new Map([...locals, ...expression.parameters.map((name) => [name, ANY] as const)])
      return infer(expression.body, inner, context)
    }
    default:
      return inferOperation(expression, of, context)
  }
}

function stringType({ at, parts }: StringExpression): ValueType {
  const isFixed = parts.every((each) => typeof each === 'string')
  return isFixed ? { kind: 'string', at, value: parts.join('') } : { ...STRING, at }
}

function itemType(
  object: ValueType,
  index: ValueType,
  expression: Extract<Expression, { kind: 'index' }>,
  context: Inference,
): ValueType {
  if (object.kind === 'array') return object.item()
  if (index.kind !== 'string' || index.value === undefined) return ANY
  return memberType(object, { ...expression, kind: 'member', name: index.value }, context)
}

function inferOperation(
  expression: Extract<Expression, { kind: 'unary' | 'binary' | 'ternary' }>,
  of: (expression: Expression) => ValueType,
  context: Inference,
): ValueType {
  const expect = (operand: Expression, wanted: ValueType, path: string): ValueType => {
    const type = of(operand)
    checkAssignable(type, wanted, { at: operand.at, path, report: context.report, needsRequired: false })
    return wanted
  }
  switch (expression.kind) {
    case 'unary':
      return expect(expression.argument, expression.operator === '!' ? BOOL : INT, `operand of ${expression.operator}`)
    case 'ternary': {
      expect(expression.condition, BOOL, 'condition')
      return choiceOf([of(expression.consequence), of(expression.alternative)])
    }
    case 'binary': {
      const { operator, left, right } = expression
      if (operator === '??') {
        return choiceOf([...optionsOf(of(left)).filter((each) => each.kind !== 'null'), of(right)])
      }
      const wanted = ['&&', '||'].includes(operator) ? BOOL : '+-*/%'.includes(operator) ? INT : ANY
      for (const operand of [left, right]) expect(operand, wanted, `operand of ${operator}`)
      return wanted === INT ? INT : BOOL
    }
  }
}

function inferObject(expression: ObjectExpression, locals: Locals, context: Inference): ValueType {
  const properties = new Map<string, Property>()
  let others: (() => ValueType) | undefined
  for (const { name, value, at } of expression.entries) {
    const type = infer(value, locals, context)
    if (typeof name !== 'string') {
      infer(name, locals, context)
      others = () => ANY
    } else {
      if (properties.has(name)) context.report(at, `${name} is set twice in one object`)
      properties.set(name, { type: () => type, required: true, readOnly: false, at })
    }
  }
  return { kind: 'object', at: expression.at, properties, others }
}

/** The variables of a loop: its item and its index. */
export function loopLocals(
  loop: Pick<ForExpression, 'item' | 'index' | 'source'>,
  locals: Locals,
  context: Inference,
): Locals {
  const source = infer(loop.source, locals, context)
  for (const option of optionsOf(source)) {
    if (option.kind !== 'array' && option.kind !== 'any') {
      context.report(loop.source.at, `a loop needs an array, not ${nameOf(option)}`)
    }
  }
  const items = optionsOf(source).map((option) => (option.kind === 'array' ? option.item() : ANY))
  const added: [string, ValueType][] = [[loop.item, choiceOf(items)]]
  if (loop.index !== undefined) added.push([loop.index, INT])
  return new Map([...locals, ...added])
}

function inferFor(expression: ForExpression, locals: Locals, context: Inference): ValueType {
  const inner = loopLocals(expression, locals, context)
  if (expression.condition) infer(expression.condition, inner, context)
  return { ...arrayOf(infer(expression.body, inner, context)), at: expression.at }
}

function inferName({ name, at }: Extract<Expression, { kind: 'name' }>, locals: Locals, context: Inference): ValueType {
  const type = locals.get(name) ?? context.typeOfName(name)
  if (type !== undefined) return type
  const known = [...locals.keys(), ...context.scope.symbols.keys()]
  context.report(at, `${name} is not declared${suggestion(name, known)}`)
  return ANY
}

function memberType(object: ValueType, expression: MemberExpression, { report }: Inference): ValueType {
  const { name, at, safe } = expression
  const found: ValueType[] = []
  const known: string[] = []
  for (const option of optionsOf(object)) {
    if (option.kind === 'any') return ANY
    const members = membersOf(option)
    const property = members?.properties.get(name)
    if (property) found.push(property.type())
    else if (members?.others) found.push(members.others())
    else known.push(...(members?.properties.keys() ?? []))
  }
  if (found.length > 0) return choiceOf(found)
  if (!safe) report(at, `${nameOf(object)} has no property ${name}${suggestion(name, known)}`)
  return ANY
}

function inferCall(expression: CallExpression, locals: Locals, context: Inference): ValueType {
  const { name, receiver, at } = expression
  const given: ValueType[] = []
  for (const argument of expression.arguments) {
    given.push(
      argument.kind === 'lambda' ? inferLambda(argument, given[0], locals, context) : infer(argument, locals, context),
    )
  }
  if (receiver !== undefined) {
    infer(receiver, locals, context)
    if (!KEY_FUNCTIONS.includes(name)) context.report(at, `a resource has no function ${name}`)
    return OPEN_OBJECT
  }
  if (name === 'listKeys') return OPEN_OBJECT
  const signature = FUNCTIONS.get(name)
  if (signature === undefined) {
    context.report(at, `function ${name} does not exist${suggestion(name, FUNCTIONS.keys())}`)
    return ANY
  }
  const { parameters, minCount, maxCount } = signature
  if (given.length < minCount || given.length > maxCount) {
    const count = maxCount === Number.POSITIVE_INFINITY ? `${minCount} or more` : `${minCount} to ${maxCount}`
    context.report(at, `${name} takes ${count} arguments, not ${given.length}`)
  }
  for (const [index, type] of given.entries()) {
    const path = `argument ${index + 1} of ${name}`
    checkAssignable(type, parameters[index] ?? ANY, { at, path, report: context.report, needsRequired: false })
  }
  return { ...resultOf(name, given, signature.result), at }
}

function inferLambda(
  { parameters, body }: Extract<Expression, { kind: 'lambda' }>,
  list: ValueType | undefined,
  locals: Locals,
  context: Inference,
): ValueType {
  const item = list?.kind === 'array' ? list.item() : ANY
  return infer(body, new Map([...locals, ...parameters.map((name) => [name, item] as const)]), context)
}
