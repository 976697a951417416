import { scoreReport } from './scores.ts'

/** Prints the recorded scores of the decision modules, and which have none. Fails when they are too low together. */
const PERCENT_AT_LEAST = 90

const { lines, percent, missing } = scoreReport()
process.stdout.write(`${lines.join('\n')}\n`)
for (const name of missing) process.stdout.write(`${name} has no score: npm run mutate -- ${name}\n`)
process.exitCode = percent >= PERCENT_AT_LEAST ? 0 : 1
