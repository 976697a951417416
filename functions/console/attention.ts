import { computed, signal } from '@preact/signals'
import type { AttentionDto } from '../../shared/domain/insight/attention.ts'
import type { Api } from './api.ts'
import type { Resource } from './resource.ts'

type State = Omit<Resource<AttentionDto>, 'reload'>

/** What needs the person's attention, when it was read, and why it could not be read again. */
export const attentionState = signal<State>({
  value: undefined,
  error: undefined,
  isLoading: false,
  loadedAt: undefined,
})

/** What needs the person's attention, as last read; undefined before that. */
export const attention = computed(() => attentionState.value.value)

/** Reads again what needs attention. What was read before stays when the service does not answer. */
export async function loadAttention(api: Api): Promise<void> {
  attentionState.value = { ...attentionState.value, isLoading: true }
  try {
    const value = await api.read<AttentionDto>('/collections/beta/attention')
    attentionState.value = { value, error: undefined, isLoading: false, loadedAt: new Date() }
  } catch (error) {
    attentionState.value = { ...attentionState.value, error, isLoading: false }
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
