// `npm run package`: builds the app and creates the deployment package for `azd deploy --from-package`.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { bundle, UNBUNDLED_PACKAGES } from './bundle.ts'
import { type Lockfile, shippedPackages } from './shipped-packages.ts'

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
 * Builds the app and creates a zip with the bundle, host.json, a package.json without scripts, and the packages that are
 * not bundled. The zip contains nothing else.
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

/** Files by path relative to the project folder, sorted. Excludes nested `node_modules`, which are packages of their own. */
function filesBelow(projectFolder: string, folder: string, isShipped: (path: string) => boolean): Zippable {
  const paths = readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('node_modules/') && isShipped(path))
    .map((path) => `${folder}/${path}`)
    .filter((path) => statSync(join(projectFolder, path)).isFile())
    .sort()
  return Object.fromEntries(paths.map((path) => [path, [readFileSync(join(projectFolder, path)), FILE_ATTRIBUTES]]))
}

if (import.meta.main) {
  const projectFolder = join(import.meta.dirname, '../..')
  const sizeBytes = await packageApp(projectFolder, join(projectFolder, 'collections-service.zip'))
  process.stdout.write(`collections-service.zip, ${(sizeBytes / 1024 / 1024).toFixed(1)} MiB\n`)
}
