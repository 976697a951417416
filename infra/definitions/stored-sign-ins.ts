import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** The tokens of the person who has signed in to a deployment, and where they are renewed. */
export type SignIn = {
  readonly authority: string
  readonly clientId: string
  readonly scope: string
  readonly username: string
  readonly accessToken: string
  readonly expiresAtMs: number
  readonly refreshToken: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Sign-ins by the URL of the deployment. */
export type StoredSignIns = {
  find(apiUrl: string): SignIn | undefined
  save(apiUrl: string, signIn: SignIn): void
}

/** The file of sign-ins in the user's folder for settings. Only its owner can read it. */
export function signInFile(environment: Environment): string {
  const home = environment.HOME || homedir()
  const folder =
    process.platform === 'win32'
      ? environment.APPDATA || join(home, 'AppData', 'Roaming')
      : environment.XDG_CONFIG_HOME || join(home, '.config')
  return join(folder, 'collections-service', 'sign-ins.json')
}

export function storedSignIns(file: string): StoredSignIns {
  const all = (): Record<string, SignIn> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      // Missing or damaged: the person signs in again.
      return {}
    }
  }
  return {
    find: (apiUrl) => all()[apiUrl],
    save(apiUrl, signIn) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      // A new file in place of the old one: it has the right mode, and a crash leaves one of the two.
      const written = `${file}.${randomUUID()}`
      writeFileSync(written, JSON.stringify({ ...all(), [apiUrl]: signIn }, undefined, 2), { mode: 0o600, flag: 'wx' })
      renameSync(written, file)
    },
  }
}
