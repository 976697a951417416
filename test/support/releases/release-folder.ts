import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')

/** A tag or commit: the version before this one, which runs beside it during a deployment and after a rollback. */
export const PREVIOUS_RELEASE = readFileSync(join(import.meta.dirname, 'previous-release'), 'utf8').trim()

/** Whether the history of the repository contains the previous release: a shallow clone does not. */
export function hasPreviousRelease(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The sources of the previous release in a folder of its own. `remove` deletes it. */
export function previousReleaseFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  const sources = ['functions', 'shared', 'package.json', 'host.json']
  const archive = execFileSync('git', ['archive', PREVIOUS_RELEASE, ...sources], {
    cwd: ROOT,
    maxBuffer: 1_000_000_000,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}
