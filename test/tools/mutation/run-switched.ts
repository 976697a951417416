import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { activateMutant } from './active-mutant.ts'
import { PROPERTY_SETTINGS } from './property-settings.ts'

/**
 * Runs test files once for each mutant of a switched source, in one process: `run-switched.ts <numbers> <file ...>`.
 * Writes a line when it begins with a mutant, and one when a test fails, to the file descriptor 3. After the first
 * failure, the other tests of a mutant end at once.
 */
const [, , numbers = '', ...files] = process.argv
const write = (line: string) => writeSync(3, `${line}\n`)
let current = 0
let isNoticed = false

const notice = () => {
  if (!isNoticed) write(`noticed ${current}`)
  isNoticed = true
}

fc.configureGlobal(PROPERTY_SETTINGS)
/** The name of the first test of each mutant, which begins it. */
const BEGINNING = 'mutant'
beforeEach((context) => {
  if (isNoticed && context.name !== BEGINNING) throw new Error('Another test has noticed the mutant')
})
afterEach((context) => {
  if (!(context as { readonly passed?: boolean }).passed) notice()
})

for (const number of numbers.split(',').map(Number)) {
  // It begins when the tests of the mutant before have ended.
  await new Promise<void>((begun) => {
    void test(BEGINNING, () => {
      current = number
      isNoticed = false
      activateMutant(number)
      write(`begun ${number}`)
      begun()
    })
  })
  for (const file of files) {
    // A module with another URL registers its tests again.
    await import(`${pathToFileURL(resolve(file)).href}?mutant=${number}`).catch(notice)
  }
}
