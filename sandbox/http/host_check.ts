/** Names of this machine to itself. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Makes the check of the `Host` that a request names. A page of a stranger can
 * point its own name at 127.0.0.1 once it is open (DNS rebinding); the browser
 * then takes this server for the stranger's, and only `Host` tells.
 *
 * @param allowed Further names that this server is reached by, without a port.
 * @returns Whether a request names this machine or one of them.
 */
export function hostCheck(
  allowed: readonly string[] = [],
): (request: Request) => boolean {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const known = (name: string): boolean =>
    LOOPBACK.test(name) || names.has(name) ||
    names.has(name.replace(/^\[|\]$/g, ""));
  return (request) => {
    const stated = request.headers.get("host");
    const host = stated === null ? null : URL.parse(`http://${stated}`);
    return known(new URL(request.url).hostname) &&
      (stated === null || (host !== null && known(host.hostname)));
  };
}

/** The answer to a request that names another host. */
export function wrongHost(): Response {
  return Response.json({
    error: "The request names another host than this machine; to allow it, " +
      "start the sandbox with --allow-host NAME",
  }, { status: 403 });
}
