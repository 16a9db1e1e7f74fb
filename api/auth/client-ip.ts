import { isIPv6 } from 'node:net';

/** `a.b.c.d:port` and `[v6]:port`, as some proxies write them into X-Forwarded-For. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/;

/**
 * The unit that per-address rules count: an IPv4 address, or the /64 network of an IPv6 address (one host usually owns all of it).
 * IPv4-mapped IPv6 (`::ffff:1.2.3.4`, in any spelling) is the IPv4 address. Zone ids and ports are dropped. Text that is no address is returned as it is.
 */
export function clientNetwork(ip: string): string {
  const [, v6, v4] = WITH_PORT.exec(ip) ?? [];
  const address = v6 ?? v4 ?? ip;
  const bare = address.split('%', 1)[0] ?? address;
  if (!isIPv6(bare)) return bare;
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
