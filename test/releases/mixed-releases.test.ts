import { it } from 'node:test'
import { checkConvergence } from '../support/jobs/convergence-property.ts'
import { PRESENT_RELEASE } from '../support/jobs/several-instances.ts'
import { openPreviousRelease } from '../support/releases/previous-release.ts'
import { hasPreviousRelease, PREVIOUS_RELEASE } from '../support/releases/release-folder.ts'

const RUNS_COUNT = 20
const SEED = 7
const skip = hasPreviousRelease() ? false : `The history does not contain ${PREVIOUS_RELEASE}`

it('Instances of this version and the previous one, side by side, keep groups, members and history right', {
  skip,
}, async () => {
  const { release, remove } = await openPreviousRelease()
  try {
    let startedCount = 0
    // The first slot is always upgraded, the second never; processes of the third take turns: a rollback.
    const releaseOf = (slot: number) => {
      startedCount += 1
      if (slot === 0) return PRESENT_RELEASE
      return slot === 1 || startedCount % 2 === 0 ? release : PRESENT_RELEASE
    }
    // The previous release removes a member whose recorded position ends.
    await checkConvergence({ runs: RUNS_COUNT, seed: SEED, releaseOf, positionsEnd: false })
  } finally {
    remove()
  }
})
