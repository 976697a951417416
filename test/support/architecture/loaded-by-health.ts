// Runs in a process of its own: loads a built app as the host does, requests `/health` and prints what that loaded.
import { registerHooks } from 'node:module'
import { loadApp } from '../../../infra/local/host/loader.ts'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

const { functions } = await loadApp(process.argv[2] ?? '', undefined)
loaded.length = 0
const { callback } = functions.find(({ metadata }) => metadata.name === 'health') ?? {}
const request = { method: 'GET', url: 'http://localhost/health', params: {}, headers: new Headers() }
const answer = (await callback?.(request, {})) as { status: number } | undefined
process.stdout.write(
  JSON.stringify({ status: answer?.status, loaded: loaded.filter((url) => url.startsWith('file:')) }),
)
