import type { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'

/** How many attempts of a sync with an error have failed. `attempts` contains one that is running. */
export function failedAttempts({ status, attempts }: Pick<SyncJobDto, 'status' | 'attempts'>): number {
  return status === 'Running' ? attempts - 1 : attempts
}
