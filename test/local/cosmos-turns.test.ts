import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PartitionTurns } from '../../infra/local/cosmos/partition-turns.ts'

describe('The turns of partitions', () => {
  it('serve a partition before the work that another one has sent earlier, in order within each', async () => {
    const turns = new PartitionTurns()
    const done: string[] = []
    const run = (partition: string, name: string) => turns.run(partition, () => void done.push(name))
    const first = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')]
    await nextTurn()
    const second = [run('c', 'c1'), run('a', 'a4')]
    await Promise.all([...first, ...second])
    assert.deepEqual(done, ['a1', 'b1', 'a2', 'c1', 'a3', 'a4'])
  })

  it('serve a partition before one that has just had its turn', async () => {
    const turns = new PartitionTurns()
    const done: string[] = []
    const run = (partition: string, name: string) => turns.run(partition, () => void done.push(name))
    const arriving: Promise<void>[] = []
    const first = turns.run('a', () => {
      done.push('a1')
      arriving.push(run('b', 'b1'), run('a', 'a3'))
    })
    await Promise.all([first, run('a', 'a2')])
    await Promise.all(arriving)
    assert.deepEqual(done, ['a1', 'b1', 'a2', 'a3'])
  })

  it('answer with the result or the failure of the work', async () => {
    const turns = new PartitionTurns()
    const failing = turns.run('a', () => {
      throw new Error('no')
    })
    await assert.rejects(failing, { message: 'no' })
    assert.equal(await turns.run('a', () => 1), 1)
  })
})
