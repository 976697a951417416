import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvedBy } from '../support/api/joinable-world.ts'
import { mailServer, mailWorld, SENDER } from '../support/mail/mail-world.ts'

const server = mailServer()

describe('A request that waits at a gate', () => {
  it('is told to its approver by mail, with both bodies and a link to it', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola')]
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await world.submit(ola, collectionId)
    await world.drain()
    const [mail, ...rest] = world.mails()
    assert.deepEqual(rest, [])
    assert.deepEqual([mail?.from, mail?.to], [SENDER, [anna.email]])
    assert.equal(mail?.subject, 'Ola asks to join Choir')
    const link = `https://collections.example/console/inbox/${collectionId}/${request.id}`
    assert.match(mail?.text ?? '', /Ola asks to become a member of Choir\. The request waits for your decision\./)
    assert.ok(mail?.text?.includes(link))
    assert.ok(mail?.html?.includes(`<a href="${link}">Review the request</a>`))
    assert.match(mail?.messageId ?? '', /^<[0-9a-f-]{36}@one\.example>$/)
  })
})
