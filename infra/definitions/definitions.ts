// `npm run definitions`: collections, group links and settings as files.
import { runDefinitions } from './run-definitions.ts'

process.exitCode = await runDefinitions(process.argv.slice(2), process.env, {
  say: (line) => void process.stdout.write(`${line}\n`),
  sayError: (line) => void process.stderr.write(`${line}\n`),
})
