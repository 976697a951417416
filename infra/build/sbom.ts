import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Component = {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly properties: readonly { readonly name: string; readonly value: string }[]
}
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] }
type BillOfMaterials = {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly Dependency[]
}

const isDevelopment = ({ properties }: Component): boolean =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')

/** The packages that the deployment package bundles or contains, with versions, hashes and licences: CycloneDX. */
export function billOfMaterials(projectFolder: string): BillOfMaterials {
  // `--omit=dev` also omits packages on which a development package depends besides others.
  const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const all: BillOfMaterials = JSON.parse(execFileSync('npm', words, { cwd: projectFolder, encoding: 'utf8' }))
  const components = all.components.filter((component) => !isDevelopment(component))
  const own = all.metadata.component
  const refs = new Set([own, ...components].map((component) => component['bom-ref']))
  const dependencies = all.dependencies.flatMap(({ ref, dependsOn }) =>
    refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((dependency) => refs.has(dependency)) }] : [],
  )
  // npm takes the name of the folder.
  const { name } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { name: string }
  return { ...all, metadata: { ...all.metadata, component: { ...own, name } }, components, dependencies }
}

/** Writes the bill of materials. @returns the number of packages */
export function writeBillOfMaterials(projectFolder: string, file: string): number {
  const bill = billOfMaterials(projectFolder)
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
  return bill.components.length
}
