import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noteText } from '../../functions/console/lifecycle-note.ts'
import { SYSTEM_NOTES } from '../../shared/domain/membership-requests/system-notes.ts'

const PERSON = '2a212754-5eaf-5476-901c-e31d12a49617'

describe('The note of a step of a request', () => {
  for (const [claim, status, notes, expected] of [
    [
      'says that the person may not join',
      'Cancelled',
      'NotEligible',
      'The collection is not open to this person any more.',
    ],
    ['says that nobody has decided', 'Cancelled', 'Expired', 'Nobody decided in time.'],
    ['says that the membership was over', 'Left', 'Expired', 'The end of the membership was reached.'],
    ['says that two records were one person', 'Cancelled', 'Merged', 'Two records were of the same person.'],
  ] as const) {
    it(claim, () => {
      assert.equal(noteText({ actorId: 'system', status, notes }), expected)
    })
  }

  it('is never a text of the service itself', () => {
    for (const notes of Object.values(SYSTEM_NOTES)) {
      assert.notEqual(noteText({ actorId: 'system', status: 'Left', notes }), notes)
    }
  })

  it('is shown as a person has written it', () => {
    assert.equal(noteText({ actorId: PERSON, status: 'Rejected', notes: 'Expired' }), 'Expired')
    assert.equal(noteText({ actorId: PERSON, status: 'Rejected' }), undefined)
  })
})
