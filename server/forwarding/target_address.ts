import { BlockList, isIP } from "node:net";

/** An address that webhooks can be sent to, and how far it is away. */
export type AddressKind = "private" | "public" | "forbidden";

const privateRanges = blockList([
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["::1", 128],
  ["fc00::", 7],
]);

/**
 * Link-local addresses, and those at which clouds answer with credentials;
 * `0.0.0.0` is any address.
 */
const forbiddenRanges = blockList([
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["fe80::", 10],
  ["0.0.0.0", 8],
  ["::", 128],
]);

/**
 * Says of what kind an IP address is.
 *
 * @param address IPv4 or IPv6; one of IPv6 that leads to one of IPv4 (mapped,
 * translated or tunnelled) counts as that.
 */
export function addressKind(address: string): AddressKind {
  const plain = address.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  const family = isIP(plain) === 4 ? "ipv4" : "ipv6";
  if (forbiddenRanges.check(plain, family)) return "forbidden";
  return privateRanges.check(plain, family) ? "private" : "public";
}

function blockList(
  ranges: readonly (readonly [network: string, prefix: number])[],
): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) {
    if (isIP(network) === 6) {
      list.addSubnet(network, prefix, "ipv6");
      continue;
    }
    list.addSubnet(network, prefix, "ipv4");
    // The same network, as a translator (NAT64) or a tunnel (6to4) leads to it.
    list.addSubnet(`64:ff9b::${network}`, 96 + prefix, "ipv6");
    list.addSubnet(`2002:${inHex(network)}::`, 16 + prefix, "ipv6");
  }
  return list;
}

/** An IPv4 address as two groups of an IPv6 one: `a9fe:0`. */
function inHex(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/**
 * Reads the address of a target.
 *
 * @param text An `https` address, or an `http` one of a private network.
 * @param name What the setting is called, for the message.
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
      `Wrong ${name}: ${shown} is link-local or a cloud's metadata service; ` +
        "nothing is sent to such addresses, because clouds keep credentials " +
        "there",
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
