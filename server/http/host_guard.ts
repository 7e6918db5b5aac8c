import { isIP } from "node:net";

/**
 * Makes the check of the `Host` that a request names. A page of a stranger can
 * point its own name at this machine once it is open (DNS rebinding); the
 * browser then takes this server for the stranger's, and only `Host` tells.
 * That needs a name, so an address in digits is always fine.
 */
export function hostGuard(
  names: readonly string[],
): (request: Pick<Request, "url" | "headers">) => boolean {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const isKnown = (address: string): boolean => {
    // What a client writes into `Host` may be no name at all.
    const hostname = URL.parse(address)?.hostname;
    if (hostname === undefined) return false;
    return hostname === "localhost" || hostname.endsWith(".localhost") ||
      isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || allowed.has(hostname);
  };
  return (request) => {
    const stated = request.headers.get("host");
    return isKnown(request.url) &&
      (stated === null || isKnown(`http://${stated}`));
  };
}

/**
 * Whether a page of another site made the browser send a request, other than by
 * a link that a person followed. Such a page cannot read the answer, but it
 * could take the places of those who wait, or measure how long answers take.
 * Every browser of today states this; who asks without a browser does not.
 */
export function isFromOtherSite({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  const mode = headers.get("sec-fetch-mode");
  const isLink = mode === "navigate" &&
    (headers.get("sec-fetch-dest") ?? "document") === "document";
  return mode !== null && !isLink &&
    (site === "cross-site" || site === "same-site");
}

/**
 * Whether an action was sent by a page of this server. A proxy may speak TLS
 * in front of it, so the scheme is not compared.
 */
export function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get("origin");
  const from = origin === null ? null : URL.parse(origin);
  const host = request.headers.get("host") ?? new URL(request.url).host;
  return from !== null && from.host === host.toLowerCase();
}

/** The `Host` of a request, as a message names it. */
export function shownHost({ headers }: Pick<Request, "headers">): string {
  return JSON.stringify((headers.get("host") ?? "").slice(0, 100));
}
