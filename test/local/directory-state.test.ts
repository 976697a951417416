import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { serverCertificate } from '../../infra/local/directory/certificates.ts'
import { startDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  binding,
  GROUPS,
  graphClient,
  memberIds,
  openDirectory,
  SEED,
  send,
  TENANT,
  user,
} from '../support/local/directory-fixture.ts'

describe('State of the local directory', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'directory-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('keeps members, deletions, keys and authority over a restart', async () => {
    const first = await openDirectory({ folder })
    const tester = graphClient(first, 'tester')
    await tester.api(`/groups/${GROUPS.plain}`).patch(binding([user(1), user(2)]))
    await tester.api(`/groups/${GROUPS.unified}`).patch({ displayName: 'Renamed' })
    await tester.api(`/users/${user(3)}`).delete()
    const keys = await send(first, 'GET', '/common/discovery/keys')
    await first.close()

    const second = await openDirectory({ folder })
    try {
      const again = graphClient(second, 'tester')
      assert.deepEqual(await memberIds(again, GROUPS.plain), [user(1), user(2)])
      assert.deepEqual(await memberIds(again, GROUPS.populated), [user(1), user(2), GROUPS.plain])
      assert.equal((await again.api(`/groups/${GROUPS.unified}`).get()).displayName, 'Renamed')
      await assert.rejects(again.api(`/users/${user(3)}`).get(), { statusCode: 404 })
      assert.deepEqual((await send(second, 'GET', '/common/discovery/keys')).body, keys.body)
      assert.equal(second.caPem, first.caPem)
      assert.equal(readFileSync(join(folder, 'ca.pem'), 'utf8'), second.caPem)
    } finally {
      await second.close()
    }
  })

  it('adds new objects of a later seed', async () => {
    await (await openDirectory({ folder })).close()
    const [tenant, ...others] = SEED.tenants
    assert.ok(tenant)
    const newcomer = { id: user(900), displayName: 'Late', userPrincipalName: 'late@one.example' }
    const seed = { ...SEED, tenants: [{ ...tenant, users: [...tenant.users, newcomer] }, ...others] }
    const directory = await openDirectory({ folder, seed })
    try {
      assert.equal(
        (
          await graphClient(directory, 'tester')
            .api(`/users/${user(900)}`)
            .get()
        ).displayName,
        'Late',
      )
    } finally {
      await directory.close()
    }
  })

  it('reports the port in use', async () => {
    const directory = await openDirectory()
    try {
      const port = Number(new URL(directory.url).port)
      const options = { port, httpPort: 0, folder: ':memory:', seed: SEED, apiUrl: 'http://localhost:7071' }
      await assert.rejects(startDirectory(options), new RegExp(`Port ${port} is in use`))
    } finally {
      await directory.close()
    }
  })

  it('reports a file that another directory uses', async () => {
    const directory = await openDirectory({ folder })
    try {
      await assert.rejects(openDirectory({ folder }), /directory\.sqlite is in use by another process/)
    } finally {
      await directory.close()
    }
  })

  for (const file of ['directory.sqlite', 'ca.pem', 'ca-key.pem']) {
    it(`reports a damaged ${file}`, async () => {
      await (await openDirectory({ folder })).close()
      writeFileSync(join(folder, file), 'damaged '.repeat(1000))
      await assert.rejects(openDirectory({ folder }), new RegExp(`${file.replace('.', '\\.')} is damaged`))
    })
  }

  it('responds on each of its names', async () => {
    const directory = await openDirectory()
    try {
      for (const host of ['localhost', '127.0.0.1']) {
        const answer = await fetch(`${directory.url.replace('localhost', host)}/local/requests`)
        assert.equal(answer.status, 200)
      }
    } finally {
      await directory.close()
    }
  })

  it('returns all data that a client needs, without the secret of the service', async () => {
    const directory = await openDirectory()
    try {
      const { body, text } = await send(directory, 'GET', '/local/demo')
      assert.deepEqual(Object.keys(body), ['serviceClientId', 'publicClientId', 'scope', 'apiUrl', 'tenants'])
      assert.equal(body.apiUrl, 'http://localhost:7071')
      assert.equal(body.tenants[0].tenantId, TENANT)
      assert.deepEqual(Object.keys(body.tenants[0].apps[0]), ['name', 'clientId', 'clientSecret', 'roles'])
      assert.equal(text.includes('service-secret'), false)
    } finally {
      await directory.close()
    }
  })

  it('creates a new authority before the old one expires, and a certificate that it issued', () => {
    const nowMs = Date.parse('2030-06-01T00:00:00Z')
    const first = serverCertificate(folder, nowMs)
    assert.equal(serverCertificate(folder, nowMs).caPem, first.caPem)
    const later = serverCertificate(folder, Date.parse('2040-05-20T00:00:00Z'))
    assert.notEqual(later.caPem, first.caPem)
    for (const { caPem, certificatePem } of [first, later]) {
      const [authority, certificate] = [new X509Certificate(caPem), new X509Certificate(certificatePem)]
      assert.equal(authority.ca, true)
      assert.equal(certificate.ca, false)
      assert.ok(certificate.verify(authority.publicKey))
      assert.ok(certificate.checkIssued(authority))
      assert.equal(certificate.checkHost('localhost'), 'localhost')
      assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
    }
  })
})
