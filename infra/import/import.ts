// `npm run import`: updates the objects of a connector to match CSV or JSON files.
import { importCommand } from './import-command.ts'
import { askOnTerminal, progressOn } from './terminal.ts'

process.exitCode = await importCommand(process.argv.slice(2), process.env, {
  progress: progressOn(process.stderr, Date.now),
  say: (line) => void process.stdout.write(`${line}\n`),
  sayError: (line) => void process.stderr.write(`${line}\n`),
  ask: askOnTerminal(process.stdin, process.stdout),
})
