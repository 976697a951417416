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
    for (const each of Object.keys(locked.dependencies ?? {})) add(each, folder, false)
    for (const each of Object.keys(locked.optionalDependencies ?? {})) add(each, folder, true)
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
