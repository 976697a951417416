import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { submitOnBehalf } from './behalf-actions.ts'
import { changeCard, changeSourceRules } from './card-actions.ts'
import {
  approveRemovals,
  changeLink,
  createLink,
  editCondition,
  replaceCriteriaCollection,
  switchGuard,
} from './collection-actions.ts'
import { decideOnRequests } from './decision-actions.ts'
import { applyDefinitions } from './definitions-actions.ts'
import { changeDeputy } from './deputy-actions.ts'
import { editGroupByHand } from './directory-actions.ts'
import { erasePerson } from './erasure-actions.ts'
import { actOnSubscription } from './event-actions.ts'
import { extendMembership } from './extension-actions.ts'
import { changeNotifications } from './mail-actions.ts'
import { changeName } from './name-actions.ts'
import type { Organisation } from './organisation.ts'
import { changePayroll, changePeople, changeUnit } from './people-actions.ts'
import { editPolicy } from './policy-actions.ts'
import { actOnMembership } from './request-actions.ts'
import { changeTimeZone } from './zone-actions.ts'

/** What an organisation does, by how often. */
const ACTIONS = [
  { weight: 40, run: changePeople },
  { weight: 26, run: actOnMembership },
  { weight: 26, run: decideOnRequests },
  { weight: 8, run: extendMembership },
  { weight: 14, run: submitOnBehalf },
  { weight: 6, run: changePayroll },
  { weight: 2, run: changeUnit },
  { weight: 8, run: changeName },
  { weight: 2, run: erasePerson },
  { weight: 5, run: changeCard },
  { weight: 2, run: changeSourceRules },
  { weight: 2, run: replaceCriteriaCollection },
  { weight: 1, run: switchGuard },
  { weight: 2, run: approveRemovals },
  { weight: 4, run: editCondition },
  { weight: 2, run: editPolicy },
  { weight: 3, run: changeLink },
  { weight: 2, run: createLink },
  { weight: 4, run: editGroupByHand },
  { weight: 1, run: actOnSubscription },
  { weight: 1, run: changeTimeZone },
  { weight: 2, run: changeDeputy },
  { weight: 1, run: changeNotifications },
  { weight: 1, run: applyDefinitions },
]

export function actionsOn(organisation: Organisation) {
  return ACTIONS.map(({ weight, run }) => ({ weight, run: (random: Random) => run(organisation, random) }))
}
