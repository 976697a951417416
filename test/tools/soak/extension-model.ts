/** Extensions of memberships at gates. Independent of the service: it shares no code with it. */
import { after, earliest, exactly, latest } from './end-model.ts'
import {
  gateKey,
  gateOf,
  type ModelExtension,
  type ModelGate,
  type ModelPolicy,
  type ModelRequest,
} from './request-model.ts'

/** @param mayJoin Whether the member is still eligible. */
export function approveExtension(policy: ModelPolicy, request: ModelRequest, gate: ModelGate, mayJoin: boolean): void {
  const { extension } = request
  if (typeof extension !== 'object') return
  extension.approvedGates.push(gateKey(gate))
  if (!mayJoin) request.extension = undefined
  else if (gateOf(policy, extension) === undefined) grantExtension(policy, request, extension)
}

/** The days of the policy count from the call that asked for the extension. A membership never ends earlier by it. */
function grantExtension(
  { maxDays }: ModelPolicy,
  request: ModelRequest,
  { endMs, requested }: Pick<ModelExtension, 'endMs' | 'requested'>,
): void {
  const asked = exactly(endMs)
  const granted = maxDays === undefined ? asked : earliest(asked, after(requested, maxDays))
  request.end = request.end && latest(request.end, granted)
  request.extension = undefined
}

/** @param mayJoin Whether the member is eligible under the changed policy. */
export function moveExtension(policy: ModelPolicy, former: ModelPolicy, request: ModelRequest, mayJoin: boolean): void {
  const { extension, status, alternatives, unnoticed, endedByDeletion } = request
  if (typeof extension !== 'object') return
  if (status !== 'Joined' || alternatives.length + unnoticed.length > 0) {
    request.extension = endedByDeletion || alternatives.includes('Joined') ? 'unknown' : undefined
    return
  }
  const [from, to] = [gateOf(former, extension), gateOf(policy, extension)]
  const isAtSamePlace = from !== undefined && from.order === to?.order && from.type === to.type
  if (mayJoin && to === undefined) grantExtension(policy, request, extension)
  else if (!mayJoin && !isAtSamePlace) request.extension = undefined
  // The gate has other approvers: it is the same one, or another.
  else if (!mayJoin && to !== undefined && gateKey(from as ModelGate) !== gateKey(to)) request.extension = 'unknown'
}
