import process from "node:process";
import { isIP } from "node:net";
import { addressKind } from "./target_address.ts";

/** A variable, where this process may read it. */
function allowedEnv(name: string): string | undefined {
  const isAllowed = typeof Deno === "undefined" ||
    Deno.permissions.querySync({ name: "env", variable: name }).state ===
      "granted";
  return isAllowed ? process.env[name] : undefined;
}

/** Variables that name a proxy, the one that counts first. */
const VARIABLES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/**
 * The variable that names the proxy through which the runtime's own `fetch` asks
 * an address; null for none. Receivers and alarms go the way of the service.
 */
export function proxyOf(
  url: URL,
  env: (name: string) => string | undefined = allowedEnv,
): string | null {
  // Node asks through a proxy only where it is told to.
  const isNode = typeof Deno === "undefined" && !("bun" in process.versions);
  if (isNode && env("NODE_USE_ENV_PROXY") !== "1") return null;
  if (url.protocol !== "https:") return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(host) !== 0 && addressKind(host) !== "public") return null;
  const exempt = (env("NO_PROXY") ?? env("no_proxy") ?? "").toLowerCase()
    .split(",").map((one) => one.trim().replace(/^\*?\./, ""));
  const isExempt = exempt.some((one) =>
    one === "*" || (one !== "" && (host === one || host.endsWith(`.${one}`)))
  );
  return isExempt
    ? null
    : VARIABLES.find((name) => (env(name) ?? "") !== "") ?? null;
}
