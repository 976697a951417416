import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Templates } from './check-module.ts'
import type { Fault } from './fault.ts'
import { type Parsed, parseTemplate } from './parse.ts'

export type TemplateTexts = ReadonlyMap<string, string>

/** The text of each template of the project, by path relative to the project folder. */
export function readTemplateTexts(projectFolder: string): TemplateTexts {
  const files = globSync('infra/**/*.bicep', { cwd: projectFolder }).sort()
  return new Map(files.map((file) => [file, readFileSync(join(projectFolder, file), 'utf8')]))
}

/** Caches parsed files, because two checks of a project usually differ in one file only. */
const parsed = new Map<string, Parsed>()

export type ParsedProject = { readonly templates: Templates; readonly faults: readonly Fault[] }

/** Parses all templates. A template with syntax errors is undefined and has faults. */
export function parseProject(texts: TemplateTexts): ParsedProject {
  const all = [...texts].map(([file, text]) => {
    const key = `${file}\n${text}`
    const known = parsed.get(key) ?? parseTemplate(file, text)
    parsed.set(key, known)
    return [file, known] as const
  })
  return {
    templates: new Map(all.map(([file, { template }]) => [file, template])),
    faults: all.flatMap(([, { faults }]) => faults),
  }
}
