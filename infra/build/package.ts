import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { bundle, UNBUNDLED_PACKAGES } from './bundle.ts'
import { writeBillOfMaterials } from './sbom.ts'

/** Members of package.json that the host and Node.js read. Scripts are excluded: none may run after a deployment. */
const MANIFEST_MEMBERS = ['name', 'version', 'private', 'license', 'type', 'main', 'engines'] as const

/** Files of packages that are not needed at run time: source maps, sources, types and documentation. */
const NOT_SHIPPED_OF_PACKAGES = /\.(map|ts|mts|cts|md)$/i

/** A fixed time makes the zip reproducible. The zip format starts in 1980. */
const WRITTEN_AT = new Date(1980, 0, 1)

/** Unix, mode 644. */
const FILE_ATTRIBUTES = { os: 3, attrs: 0o100644 << 16, mtime: WRITTEN_AT } as const

type Manifest = Readonly<Record<string, unknown>> & { readonly dependencies: Readonly<Record<string, string>> }

/**
 * Builds the app and creates a zip with the bundle, host.json, a package.json without scripts, and the packages that
 * are not bundled. The zip contains nothing else.
 * @returns the size of the zip in bytes
 */
export async function packageApp(projectFolder: string, zipFile: string): Promise<number> {
  await bundle(projectFolder, join(projectFolder, 'dist'))
  const lockfile: Lockfile = JSON.parse(readFileSync(join(projectFolder, 'package-lock.json'), 'utf8'))
  const files: Zippable = {
    'host.json': [readFileSync(join(projectFolder, 'host.json')), FILE_ATTRIBUTES],
    'package.json': [Buffer.from(shippedManifest(projectFolder)), FILE_ATTRIBUTES],
    ...filesBelow(projectFolder, 'dist', () => true),
  }
  for (const folder of shippedPackages(lockfile, UNBUNDLED_PACKAGES)) {
    Object.assign(
      files,
      filesBelow(projectFolder, folder, (path) => !NOT_SHIPPED_OF_PACKAGES.test(path)),
    )
  }
  const zip = zipSync(files, { level: 6 })
  writeFileSync(zipFile, zip)
  return zip.byteLength
}

function shippedManifest(projectFolder: string): string {
  const manifest = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as Manifest
  const shipped = Object.fromEntries(MANIFEST_MEMBERS.map((member) => [member, manifest[member]]))
  const dependencies = Object.fromEntries(UNBUNDLED_PACKAGES.map((name) => [name, manifest.dependencies[name]]))
  return `${JSON.stringify({ ...shipped, dependencies }, null, 2)}\n`
}

/**
 * Files by path relative to the project folder, sorted. Excludes nested `node_modules`, which are packages of their
 * own.
 */
function filesBelow(projectFolder: string, folder: string, isShipped: (path: string) => boolean): Zippable {
  const paths = readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('node_modules/') && isShipped(path))
    .map((path) => `${folder}/${path}`)
    .filter((path) => statSync(join(projectFolder, path)).isFile())
    .sort()
  return Object.fromEntries(paths.map((path) => [path, [readFileSync(join(projectFolder, path)), FILE_ATTRIBUTES]]))
}

/** The part of package-lock.json that describes dependencies. */
export type Lockfile = {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
type LockedPackage = {
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * The folders of these packages and of all their dependencies, relative to the project folder, sorted.
 * @throws Error for a missing package or a development dependency
 */
export function shippedPackages({ packages }: Lockfile, names: readonly string[]): string[] {
  const folders = new Set<string>()
  const add = (name: string, dependent: string, isOptional: boolean): void => {
    const folder = folderOf(name, dependent, packages)
    if (folder === undefined && isOptional) return
    const locked = folder === undefined ? undefined : packages[folder]
    if (folder === undefined || locked === undefined) throw new Error(`package-lock.json does not contain ${name}`)
    if (locked.dev === true) throw new Error(`${name} is a development dependency and cannot be shipped`)
    if (folders.has(folder)) return
    folders.add(folder)
    for (const dependency of Object.keys(locked.dependencies ?? {})) add(dependency, folder, false)
    for (const dependency of Object.keys(locked.optionalDependencies ?? {})) add(dependency, folder, true)
  }
  for (const name of names) add(name, '', false)
  return [...folders].sort()
}

/** Resolves a package like Node.js: beside the dependent, then one level up, and so on. */
function folderOf(name: string, dependent: string, packages: Lockfile['packages']): string | undefined {
  for (let level = dependent; ; level = level.slice(0, Math.max(0, level.lastIndexOf('/node_modules/')))) {
    const folder = `${level === '' ? '' : `${level}/`}node_modules/${name}`
    if (packages[folder] !== undefined) return folder
    if (level === '') return undefined
  }
}

if (import.meta.main) {
  const projectFolder = join(import.meta.dirname, '../..')
  const sizeBytes = await packageApp(projectFolder, join(projectFolder, 'collections-service.zip'))
  process.stdout.write(`collections-service.zip, ${(sizeBytes / 1024 / 1024).toFixed(1)} MiB\n`)
  const packageCount = writeBillOfMaterials(projectFolder, join(projectFolder, 'collections-service.sbom.json'))
  process.stdout.write(`collections-service.sbom.json, ${packageCount} packages\n`)
}
