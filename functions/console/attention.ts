import { signal } from '@preact/signals'
import type { AttentionDto } from '../../shared/domain/insight/attention.ts'
import type { Api } from './api.ts'

/** What needs the person's attention, as last read; undefined before that. */
export const attention = signal<AttentionDto | undefined>(undefined)

/** Reads again what needs attention. What was read before stays when the service does not answer. */
export async function loadAttention(api: Api): Promise<void> {
  try {
    attention.value = await api.read<AttentionDto>('/collections/beta/attention')
  } catch {
    // The view itself says why the service does not answer. The numbers are read again with the next view.
  }
}

/** The links that failed, hold removals or pause them. Zero for those who may not read links. */
export function urgentLinkCount({ failedLinks, pausedLinks, heldRemovals }: AttentionDto): number {
  return (failedLinks ?? 0) + (pausedLinks ?? 0) + (heldRemovals ?? 0)
}

/** Faults in the data of sources. */
export function dataFaultCount({ unresolvedReferences, accountConflicts, duplicates }: AttentionDto): number {
  return (unresolvedReferences ?? 0) + (accountConflicts ?? 0) + (duplicates ?? 0)
}
