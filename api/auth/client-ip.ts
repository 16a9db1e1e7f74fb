import { isIPv6 } from 'node:net';

/**
 * The unit that per-address rules count: an IPv4 address, or the /64 network of an IPv6 address (one host usually owns all of it).
 * IPv4-mapped IPv6 (`::ffff:1.2.3.4`) is the IPv4 address. Zone ids are dropped. Text that is no address is returned as it is.
 */
export function clientNetwork(ip: string): string {
  const bare = ip.split('%', 1)[0] ?? ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!isIPv6(bare)) return bare;
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
