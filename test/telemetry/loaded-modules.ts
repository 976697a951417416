/** A process of its own: says which modules the app has loaded, before and after the host's `appStart`. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { loadApp } from '../../infra/local/host/loader.ts'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

const { hooks, model } = await loadApp(join(import.meta.dirname, '../..'), ['functions/*.ts'])
const byCode = [...loaded]
for (const hook of hooks) if (hook.name === 'appStart') await hook.callback({})
const byStart = loaded.slice(byCode.length)
const capabilities = await model.getCapabilities({})
for (const hook of hooks) if (hook.name === 'appTerminate') await hook.callback({})
process.stdout.write(JSON.stringify({ byCode, byStart, capabilities }))
