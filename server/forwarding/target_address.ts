import { BlockList, isIP } from "node:net";

/** An address that webhooks can be sent to, and how far it is away. */
export type AddressKind = "private" | "public" | "forbidden";

const privateRanges = blockList([
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["198.18.0.0", 15],
  ["::1", 128],
  ["fc00::", 7],
]);

/**
 * Link-local addresses, those at which clouds answer with credentials, and those
 * that belong to no machine: of any, of many, of tunnels, and reserved ones.
 */
const forbiddenRanges = blockList([
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.0", 24],
  ["192.88.99.0", 24],
  ["0.0.0.0", 8],
  ["224.0.0.0", 3],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["fe80::", 9],
  ["ff00::", 8],
  ["::", 128],
  ["100::", 64],
  ["2001::", 32],
  ["2001:2::", 48],
  ["2001:10::", 27],
  ["5f00::", 16],
]);

/** Networks of IPv6 whose last 32 bits are an address of IPv4. */
const TRANSLATED = blockList([
  ["::", 96],
  ["::ffff:0:0", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
]);

/** Says of what kind an IP address is. */
export function addressKind(address: string): AddressKind {
  const plain = address.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIP(plain) === 4) return kindOf(plain, "ipv4");
  const own = kindOf(plain, "ipv6");
  const inside = own === "public" ? addressInside(plain) : null;
  return inside === null ? own : kindOf(inside, "ipv4");
}

function kindOf(address: string, family: "ipv4" | "ipv6"): AddressKind {
  if (forbiddenRanges.check(address, family)) return "forbidden";
  return privateRanges.check(address, family) ? "private" : "public";
}

/** The address of IPv4 that one of IPv6 leads to; null where it leads to none. */
function addressInside(address: string): string | null {
  // The address of a URL is written in one form.
  const host = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? "";
  const [head = "", tail] = host.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = Array<string>(8 - before.length - after.length).fill("0");
  const groups = [...before, ...gap, ...after].map((one) => parseInt(one, 16));
  // 6to4 has it behind its first group.
  const pair = groups[0] === 0x2002
    ? groups.slice(1, 3)
    : TRANSLATED.check(address, "ipv6")
    ? groups.slice(6)
    : null;
  return pair?.flatMap((one) => [one >> 8, one & 255]).join(".") ?? null;
}

function blockList(
  ranges: readonly (readonly [network: string, prefix: number])[],
): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) {
    list.addSubnet(network, prefix, isIP(network) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Reads the address of a target.
 *
 * @throws {TypeError} When webhooks cannot or must not be sent there.
 */
export function readTargetUrl(text: string, name: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new TypeError(
      `Wrong ${name}: ${
        JSON.stringify(shownText(text))
      } is not an http or https address; write for example ` +
        "https://shop.example/hooks",
    );
  }
  const shown = targetName(url);
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Wrong ${name}: ${shown} holds a user or a password; take them out, ` +
        "the signature shows who sends",
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const kind = isIP(host) === 0 ? null : addressKind(host);
  if (kind === "forbidden") {
    throw new TypeError(
      `Wrong ${name}: ${shown} is link-local, a cloud's metadata service or ` +
        "no address of one machine; nothing is sent there, because clouds keep " +
        "credentials at such addresses",
    );
  }
  if (kind === "public" && url.protocol === "http:") {
    throw new TypeError(
      `Wrong ${name}: ${shown} is on the public network; use https`,
    );
  }
  url.hash = "";
  return url;
}

/** The address without what may be secret in it: user, query and fragment. */
export function targetName(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** A text that is not an address, without what may be a password in it. */
function shownText(text: string): string {
  return text.replace(/[?#].*$/s, "").replace(/^.*@/s, "").slice(0, 200);
}
