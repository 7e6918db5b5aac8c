import { BlockList, isIP, isIPv4 } from "node:net";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";

/** Which proxies are trusted, and which header they set. */
export interface ProxiedAddressOptions {
  /**
   * Header that the proxy sets or appends to: `X-Forwarded-For`, `X-Real-IP`,
   * `CF-Connecting-IP` and the like, addresses by commas. The RFC 7239 header
   * `Forwarded` is not read.
   */
  readonly header: string;
  /** Addresses and networks (CIDR) of the proxies. */
  readonly trustedProxies: readonly string[];
}

/** Most proxies that are expected; the rest of a longer header is not read. */
const MOST_HOPS = 32;

/**
 * Makes a `clientAddress` for an endpoint behind a proxy.
 *
 * The header is read only on connections from a trusted proxy, because any
 * client can write it. It is read from its end, because each proxy appends the
 * address it saw. The last address that is not a trusted proxy is the client.
 * Everything before it was sent by the client and is ignored.
 *
 * @param options The header, and the proxies that may set it.
 * @returns The address of the client; null where the header of a trusted proxy
 * holds something else, which no allowlist lets through.
 * @throws {TypeError} When a proxy is neither address nor network, none is named,
 * or the header is `Forwarded` or no name of a header.
 *
 * @example Take webhooks from one network, behind a proxy on this machine
 * ```ts
 * import { proxiedAddress } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const clientAddress = proxiedAddress({
 *   header: "X-Forwarded-For",
 *   trustedProxies: ["127.0.0.1"],
 * });
 * const request = new Request("https://shop.example/webhooks/SECRET", {
 *   headers: { "X-Forwarded-For": "198.51.100.7, 203.0.113.9" },
 * });
 * const from = (hostname: string) => ({ remoteAddr: { hostname } });
 * assert.equal(clientAddress(request, from("127.0.0.1")), "203.0.113.9");
 * assert.equal(clientAddress(request, from("192.0.2.1")), "192.0.2.1");
 * ```
 */
export function proxiedAddress(
  options: ProxiedAddressOptions,
): NonNullable<WebhookEndpointOptions["clientAddress"]> {
  const header = headerName(options.header);
  if (options.trustedProxies.length === 0) {
    throw new TypeError("Cannot trust a header: no trusted proxy is named");
  }
  const isProxy = allowlist(options.trustedProxies);
  return (request, info) => {
    const peer = connectionAddress(request, info);
    if (!isProxy(peer)) return peer;
    const stated = request.headers.get(header);
    if (stated === null) return peer;
    const hops = stated.split(",").slice(-MOST_HOPS).reverse();
    let last: string | null = null;
    for (const hop of hops) {
      last = addressOf(hop.trim());
      if (last === null || !isProxy(last)) return last;
    }
    return last;
  };
}

function headerName(name: string): string {
  if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !/^forwarded$/i.test(name)) {
    return name;
  }
  throw new TypeError(
    `Cannot read addresses from the header "${name}": use one that lists ` +
      "addresses by commas, for example X-Forwarded-For",
  );
}

/** An address, without the port that some proxies add; null for another text. */
function addressOf(text: string): string | null {
  const [, bare = text] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ??
    /^([^:]*):\d+$/.exec(text) ?? [];
  return isIP(bare) === 0 ? null : bare;
}

/** The address of the connection, where the transport has one. */
export function connectionAddress(
  _request: Request,
  info: ConnectionInfo | undefined,
): string | null {
  const remote = info?.remoteAddr;
  if (remote === undefined || !("hostname" in remote)) return null;
  return typeof remote.hostname === "string" ? remote.hostname : null;
}

/**
 * Makes a check against a list of addresses and networks.
 *
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
        `Cannot read allowlist: "${entry}" is neither an IP address nor a network in CIDR notation`,
      );
    }
    list.addSubnet(address, bits, family);
  }
  return (address: string | null): boolean => {
    // Without brackets and zone.
    const plain = (address ?? "").replace(/^\[(.*)\]$/, "$1")
      .replace(/%.*$/, "");
    const family = isIPv4(plain) ? "ipv4" : "ipv6";
    return isIP(plain) !== 0 && list.check(plain, family);
  };
}
