import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { Language, type Node, Parser } from 'web-tree-sitter'
import type { Fault } from './fault.ts'
import { type Location, locationOf, part, partsOf, stringParts } from './nodes.ts'

type Declared<Kind extends string> = {
  readonly kind: Kind
  readonly name: string
  readonly at: Location
  /** The first argument of each decorator, by the name of the decorator. */
  readonly decorators: ReadonlyMap<string, Node | undefined>
}

export type Parameter = Declared<'parameter'> & {
  /** `string`, `int`, `bool`, `array` or `object`. */
  readonly type: string
  readonly default: Node | undefined
}
export type Output = Declared<'output'> & { readonly value: Node }
export type Resource = Declared<'resource'> & {
  /** `<type>@<version>`. */
  readonly type: string
  readonly isExisting: boolean
  readonly body: Node
}
export type Module = Declared<'module'> & {
  /** Path relative to the project folder. */
  readonly file: string
  readonly body: Node
}
type Variable = Declared<'variable'> & { readonly value: Node }
export type Declaration = Parameter | Output | Resource | Module | Variable

/** A parsed file. */
export type Template = {
  readonly file: string
  readonly text: string
  readonly declarations: readonly Declaration[]
}
export type Templates = ReadonlyMap<string, Template>
export type TemplateTexts = ReadonlyMap<string, string>

/** The text of each template of the project, by path relative to the project folder. */
export function readTemplateTexts(projectFolder: string): TemplateTexts {
  const files = globSync('infra/**/*.bicep', { cwd: projectFolder }).sort()
  return new Map(files.map((file) => [file, readFileSync(join(projectFolder, file), 'utf8')]))
}

await Parser.init()
const grammar = fileURLToPath(import.meta.resolve('tree-sitter-bicep/tree-sitter-bicep.wasm'))
const parser = new Parser().setLanguage(await Language.load(grammar))

type Parsed = { readonly template: Template; readonly faults: readonly Fault[] }

/** Caches parsed files, because two checks of a project usually differ in one file only. */
const parsed = new Map<string, Parsed>()

/** Parses all templates. A template with syntax errors has no declarations. */
export function parseTemplates(texts: TemplateTexts): { readonly templates: Templates; readonly faults: Fault[] } {
  const all = [...texts].map(([file, text]) => {
    const key = `${file}\n${text}`
    const known = parsed.get(key) ?? parse(file, text)
    parsed.set(key, known)
    return known
  })
  return {
    templates: new Map(all.map(({ template }) => [template.file, template])),
    faults: all.flatMap(({ faults }) => faults),
  }
}

function parse(file: string, text: string): Parsed {
  const root = parser.parse(text)?.rootNode
  if (!root) throw new Error(`${file} was not parsed`)
  const faults = root.hasError ? [...syntaxFaults(root, file)] : []
  return { template: { file, text, declarations: root.hasError ? [] : declarationsOf(root, file) }, faults }
}

function* syntaxFaults(node: Node, file: string): Generator<Fault> {
  const at = locationOf(node, file)
  if (node.isMissing) yield { ...at, message: `${node.type} is missing` }
  if (node.isError) yield { ...at, message: `syntax error at "${node.text.split('\n')[0]?.slice(0, 60) ?? ''}"` }
  else for (const child of node.children) yield* syntaxFaults(child, file)
}

function declarationsOf(root: Node, file: string): Declaration[] {
  let decorators = new Map<string, Node | undefined>()
  return partsOf(root).flatMap((node) => {
    if (node.type === 'decorators') {
      decorators = decoratorsOf(node)
      return []
    }
    const declared = { name: part(node, 0).text, at: locationOf(node, file), decorators }
    decorators = new Map()
    return declaration(node, declared)
  })
}

function declaration(node: Node, declared: Omit<Declared<string>, 'kind'>): Declaration[] {
  const { at } = declared
  switch (node.type) {
    case 'target_scope_assignment':
      return []
    case 'parameter_declaration':
      return [{ ...declared, kind: 'parameter', type: part(node, 1).text, default: partsOf(node)[2] }]
    case 'variable_declaration':
      return [{ ...declared, kind: 'variable', value: part(node, 1) }]
    case 'output_declaration':
      return [{ ...declared, kind: 'output', value: part(node, 2) }]
    case 'module_declaration': {
      const file = normalize(join(dirname(at.file), fixedText(part(node, 1))))
      return [{ ...declared, kind: 'module', file, body: part(node, 2) }]
    }
    case 'resource_declaration': {
      const isExisting = node.children.some((child) => child?.type === 'existing')
      return [{ ...declared, kind: 'resource', type: fixedText(part(node, 1)), isExisting, body: part(node, 2) }]
    }
    default:
      throw new Error(`${at.file}:${at.line}: the tests do not know ${node.type}`)
  }
}

const fixedText = (node: Node): string => stringParts(node).map(String).join('')

/** Each decorator is a call. */
function decoratorsOf(node: Node): Map<string, Node | undefined> {
  const calls = partsOf(node).map((decorator) => part(decorator, 0))
  return new Map(calls.map((call) => [part(call, 'function').text, partsOf(part(call, 'arguments'))[0]]))
}
