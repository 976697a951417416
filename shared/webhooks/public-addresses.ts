import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not public: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry. The platform's own services (168.63.129.16) and metadata
 * (169.254.169.254) are among them.
 */
const IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Only 2000::/3 is assigned to public use. Within it, these are not, or lead to IPv4 addresses. */
const IPV6_PUBLIC = ['2000::', 3] as const
const IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const notPublic = new BlockList()
for (const [net, prefix] of IPV4) notPublic.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of IPV6) notPublic.addSubnet(net, prefix, 'ipv6')
const publicIpv6 = new BlockList()
publicIpv6.addSubnet(...IPV6_PUBLIC, 'ipv6')

/** Whether an address is public. An IPv4 address in the notation of IPv6 is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, 'ipv4')
    case 6:
      return publicIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
    default:
      return false
  }
}
