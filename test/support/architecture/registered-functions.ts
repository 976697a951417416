// Runs in a process of its own: loads an app as the host does and prints the functions that it registers.
import { loadApp } from '../../../infra/local/host/loader.ts'

const { functions } = await loadApp(process.argv[2] ?? '', undefined)
const registered = functions.map(({ metadata: { name, bindings } }) => {
  const trigger = Object.values(bindings).find(({ direction, type }) => direction === 'in' && /Trigger$/i.test(type))
  return [name, trigger?.type]
})
process.stdout.write(JSON.stringify(Object.fromEntries(registered.sort())))
