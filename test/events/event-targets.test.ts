import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { targetKind } from '../../shared/webhooks/event-targets.ts'
import { isPublicAddress } from '../../shared/webhooks/public-addresses.ts'

describe('An address', () => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'localhost',
    '',
  ])
    it(`${address} is not public`, () => assert.equal(isPublicAddress(address), false))

  for (const address of ['8.8.8.8', '172.15.255.255', '172.32.0.1', '2606:4700::1111', '2a01:111::1'])
    it(`${address} is public`, () => assert.equal(isPublicAddress(address), true))
})

describe('A range of addresses that are not public', () => {
  for (const [first, last, before, after] of [
    ['0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
    ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
    ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
    ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
    ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
    ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
    ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
    ['224.0.0.0', '239.255.255.255', '223.255.255.255', undefined],
    ['240.0.0.0', '255.255.255.255', undefined, undefined],
    ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined, '2000::'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff::', '2001:200::'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff::', '2003::'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff:ffff::', '3fff:1000::'],
    ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff::', undefined],
  ] as const)
    it(`is ${first} to ${last}, both included`, () => {
      assert.deepEqual([isPublicAddress(first), isPublicAddress(last)], [false, false])
      for (const neighbour of [before, after]) {
        if (neighbour !== undefined) assert.equal(isPublicAddress(neighbour), true, neighbour)
      }
    })
})

describe('The address of a subscription', () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127。0。0。1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/metadata',
    'https://[::ffff:a9fe:a9fe]/',
    'https://0xa9fea9fe/',
    'https://127.0.0.1./',
    'https://%31%32%37.0.0.1/',
    'https://[fe80::1]/',
    'https://0/',
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'https://user@example.com/',
    'file:///etc/passwd',
    'nothing',
  ])
    it(`${url} is refused`, () => assert.equal(typeof targetKind(url, ['http://127.0.0.1']), 'object'))

  for (const [url, prefix, expected] of [
    ['http://127.0.0.1:81/a', 'http://127.0.0.1', 'allowed'],
    ['http://10.0.0.1/hooks/a', 'http://10.0.0.1/hooks', 'allowed'],
    ['http://10.0.0.1/hooks', 'http://10.0.0.1/hooks', 'allowed'],
    ['https://10.0.0.1:8443/', 'https://10.0.0.1:8443', 'allowed'],
    ['https://10.0.0.1/', 'https://10.0.0.1:443', 'allowed'],
    ['http://10.0.0.1/hooks/a', 'http://10.0.0.1:80/hooks', 'allowed'],
    ['http://[fd00::1]/', 'http://[fd00::1]:80', 'allowed'],
    ['http://[fd00::1]:81/', 'http://[fd00::1]', 'allowed'],
    ['https://example.com/', 'http://127.0.0.1', 'public'],
    ['https://8.8.8.8/', 'http://127.0.0.1', 'public'],
    ['https://[2606:4700::1111]/', 'http://127.0.0.1', 'public'],
  ] as const)
    it(`${url} with ${prefix} is ${expected}`, () => assert.equal(targetKind(url, [prefix]), expected))

  it('http://127.0.0.1/ is allowed by one of several prefixes', () =>
    assert.equal(targetKind('http://127.0.0.1/', ['http://10.0.0.1', 'http://127.0.0.1']), 'allowed'))

  for (const [url, prefix] of [
    ['http://10.0.0.1/hooks-of-others', 'http://10.0.0.1/hooks'],
    ['http://10.0.0.1/hooks/../admin', 'http://10.0.0.1/hooks'],
    ['https://10.0.0.1:8444/', 'https://10.0.0.1:8443'],
    ['https://10.0.0.1:8443/', 'https://10.0.0.1:443'],
    ['http://10.0.0.1:2375/hooks', 'http://10.0.0.1:80/hooks'],
    ['https://10.0.0.1/', 'http://10.0.0.1'],
    ['http://a:b@127.0.0.1/', 'http://127.0.0.1'],
  ] as const)
    it(`${url} is refused although ${prefix} is allowed`, () =>
      assert.equal(typeof targetKind(url, [prefix]), 'object'))
})
