import { openHttpServer } from "../core/serving/open_http_server.ts";
import type { SandboxOptions } from "./options.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";

/** How a sandbox is served. */
export interface ServeSandboxOptions extends SandboxOptions {
  /**
   * Port; 0 takes a free one.
   * @default {8790}
   */
  readonly port?: number;
  /**
   * Address to listen on.
   * @default {"127.0.0.1"}
   */
  readonly hostname?: string;
  /**
   * Names by which requests may reach it, besides those of the machine itself
   * (`localhost`, `127.0.0.1`, `[::1]`) and `hostname`; others get 403, so that
   * no web page reaches it by a name of its own.
   * @default {[]}
   */
  readonly allowedHosts?: readonly string[];
  /**
   * A sandbox already set up; the options above are then its own.
   * @default {a new one}
   */
  readonly sandbox?: Sandbox;
}

/** A sandbox that listens. */
export interface ServedSandbox extends AsyncDisposable {
  /** The sandbox. */
  readonly sandbox: Sandbox;
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Stops listening and closes the sandbox. */
  close(): Promise<void>;
}

/**
 * Serves a sandbox over HTTP, for any language, once it listens. Needs
 * permission to listen.
 *
 * Without a clock of its own it uses the machine's, which its control page can
 * move ahead: hours of retries then pass in a moment.
 *
 * @param options Port, address, and those of the sandbox.
 * @returns The sandbox and its address.
 * @throws {Error} With `code` `EADDRINUSE` when the port is taken.
 *
 * @example Ask a served sandbox
 * ```ts
 * import { serveSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using served = await serveSandbox({ port: 0 });
 * const answer = await fetch(`${served.url}/api/external/orders`);
 * assert.equal(answer.status, 401);
 * await answer.body?.cancel();
 * ```
 */
export async function serveSandbox(
  options: ServeSandboxOptions = {},
): Promise<ServedSandbox> {
  const { port = 8790, hostname = "127.0.0.1", allowedHosts = [] } = options;
  const { sandbox: given, ...rest } = options;
  const isOurs = hostCheck([hostname, ...allowedHosts]);
  const sandbox = given ?? createSandbox(rest);
  const server = await openHttpServer({
    port,
    hostname,
    handler: (request) =>
      isOurs(request) ? sandbox.fetch(request) : wrongHost(),
  });
  const close = async () => {
    await sandbox.close();
    await server.shutdown();
  };
  return {
    sandbox,
    url: `http://${hostname}:${server.port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Names by which this machine calls itself. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Makes the check of the `Host` that a request names. A stranger's page can
 * point its own name at 127.0.0.1 once it is open (DNS rebinding); the browser
 * then takes this server for the stranger's, and only `Host` shows the
 * difference.
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
function wrongHost(): Response {
  return Response.json({
    error: "The request names another host than this machine; to allow it, " +
      "start the sandbox with --allow-host NAME",
  }, { status: 403 });
}
