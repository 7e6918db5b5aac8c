import { BlockList, isIP, isIPv4 } from "node:net";

/**
 * Makes a check against a list of addresses and networks.
 *
 * @param entries IPv4 and IPv6 addresses, or networks in CIDR notation.
 * @returns Whether an address is one of them; null never is.
 * @throws {TypeError} When an entry is neither.
 */
export function allowlist(
  entries: readonly string[],
): (address: string | null) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...rest] = entry.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    const widest = family === "ipv4" ? 32 : 128;
    const bits = prefix === undefined ? widest : Number(prefix);
    const isNetwork = /^\d{1,3}$/.test(prefix ?? "0") && bits <= widest;
    if (isIP(address) === 0 || !isNetwork || rest.length > 0) {
      throw new TypeError(
        `Cannot read allowlist: "${entry}" is no IP address and no network in CIDR notation`,
      );
    }
    list.addSubnet(address, bits, family);
  }
  return (address: string | null): boolean => {
    if (address === null) return false;
    const plain = normalised(address);
    switch (isIP(plain)) {
      case 4:
        return list.check(plain, "ipv4");
      case 6:
        return list.check(plain, "ipv6");
      default:
        return false;
    }
  };
}

/** The address without brackets and zone. */
function normalised(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
}
