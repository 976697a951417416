/** A process of its own: says which modules the app has loaded by each step of its life. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { loadApp } from '../../../infra/local/host/loader.ts'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

const { functions, terminateHooks, model } = await loadApp(join(import.meta.dirname, '../../..'), ['functions/*.ts'])
const byCode = loaded.splice(0)

const request = { method: 'GET', url: 'http://localhost/openapi.json', headers: new Headers(), params: {} }
const { callback } = functions.find(({ metadata }) => metadata.name === 'api-document') ?? {}
const answer = (await callback?.(request, { functionName: 'api-document' })) as { status: number } | undefined
const byAnswer = loaded.splice(0)

// The export of what was recorded. It does not end: nothing listens at the address of the settings.
for (const hook of terminateHooks) void hook({})
for (let turns = 0; turns < 1_000; turns += 1) await turn()
const byExport = loaded.splice(0)
const capabilities = await model.getCapabilities({})
const said = JSON.stringify({ byCode, byAnswer, byExport, capabilities, status: answer?.status })
process.stdout.write(said, () => process.exit(0))
