import { ringForSweeps } from '../../shared/domain/links/sweep.ts'
import { nowMs } from '../host/foundation.ts'
import { linkDependencies } from '../host/group-link.ts'

export const handle = () => ringForSweeps(new Date(nowMs()).getUTCMinutes(), linkDependencies)
