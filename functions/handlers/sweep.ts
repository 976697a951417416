import { ringForSweeps } from '../../shared/domain/links/sweep.ts'
import { linkDependencies } from '../host/group-link.ts'

export const handle = () => ringForSweeps(undefined, linkDependencies)
