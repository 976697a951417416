import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import ts from 'typescript'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')
const MAX_METHOD_COUNT = 10

const files = globSync('shared/domain/**/*.ts', { cwd: PROJECT_FOLDER })
const textOf = (file: string): string => readFileSync(join(PROJECT_FOLDER, file), 'utf8')

/** The interfaces of a file, each with the number of its methods. */
function portsOf(file: string): [name: string, methodCount: number][] {
  const { statements } = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest)
  return statements
    .filter(ts.isInterfaceDeclaration)
    .map(({ name, members }) => [name.text, members.filter(ts.isMethodSignature).length])
}

describe('The ports of the domain', () => {
  it('have at most ten methods', () => {
    const ports = files.flatMap(portsOf)
    assert.ok(ports.length > 30, `${ports.length} ports`)
    assert.deepEqual(
      ports.filter(([, methodCount]) => methodCount > MAX_METHOD_COUNT).map(([name]) => name),
      [],
    )
  })

  it('are composed with each other, and asked for one by one by the use cases', () => {
    const composed = /: (?:Collection|Evaluated)Dependencies\b/
    const takers = files.filter((file) =>
      textOf(file)
        .split('\n')
        .some((line) => composed.test(line)),
    )
    assert.deepEqual(takers, [])
  })

  it('leave it to one module to build messages and their ids', () => {
    const sources = globSync('{shared,functions}/**/*.ts', { cwd: PROJECT_FOLDER })
    const senders = sources.filter((file) => textOf(file).includes('messageQueue.enqueue('))
    assert.deepEqual(senders.sort(), ['shared/kernel/enqueue-messages.ts', 'shared/messaging/redelivery.ts'])
  })
})
