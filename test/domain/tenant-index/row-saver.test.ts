import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RowSaving } from '../../../shared/domain/tenant-index/row-loader.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { RowSaver, type SavableRows } from '../../../shared/domain/tenant-index/saved/row-saver.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

it('Rows are read after the claim to save them, so that they have all writes until some seconds before it', async () => {
  const steps: string[] = []
  const entry = {
    rows: { objectCount: 100_000, settings: DEFAULT_ROW_SETTINGS },
    saved: { version: undefined, completeUntilS: undefined, changedCount: 0 },
    saveNotBeforeMs: 0,
  } as unknown as SavableRows
  const claim = {
    claimedAtS: NOW_MS / 1000,
    replace: async ({ completeUntilS }: { completeUntilS: number }) => {
      steps.push(`saved as complete until ${completeUntilS - NOW_MS / 1000} s`)
      return '1'
    },
  }
  const store = {
    find: async () => undefined,
    claim: async () => {
      steps.push('claimed')
      return claim
    },
  }
  const saver = new RowSaver({ store, nowMs: () => NOW_MS } as unknown as RowSaving, {
    scheduler: new CooperativeScheduler(() => NOW_MS),
    elapsedMs: () => NOW_MS,
    settings: { of: async () => DEFAULT_ROW_SETTINGS },
    current: async () => {
      steps.push('read')
      return entry
    },
    whileUnchanged: (_rows, work) => work(),
  })
  await saver.saveIfDue('tenant', entry)
  assert.deepEqual(steps, ['claimed', 'read', 'saved as complete until -15 s'])
})

it('Rows are saved again after ten minutes when they could not be replaced', async () => {
  const entry = {
    rows: { objectCount: 100_000, settings: DEFAULT_ROW_SETTINGS },
    saved: { version: undefined, completeUntilS: undefined, changedCount: 0 },
    saveNotBeforeMs: 0,
  } as unknown as SavableRows
  let elapsedMs = 0
  const versions = [undefined, '1']
  const replacedAtMs: number[] = []
  const replace = async () => {
    replacedAtMs.push(elapsedMs)
    return versions.shift()
  }
  const store = { find: async () => undefined, claim: async () => ({ claimedAtS: NOW_MS / 1000, replace }) }
  const saver = new RowSaver({ store, nowMs: () => NOW_MS } as unknown as RowSaving, {
    scheduler: new CooperativeScheduler(() => NOW_MS),
    elapsedMs: () => elapsedMs,
    settings: { of: async () => DEFAULT_ROW_SETTINGS },
    current: async () => entry,
    whileUnchanged: (_rows, work) => work(),
  })
  for (elapsedMs of [0, 599_999, 600_000]) await saver.saveIfDue('tenant', entry)
  assert.deepEqual(replacedAtMs, [0, 600_000])
  assert.equal(entry.saved.version, '1')
})
