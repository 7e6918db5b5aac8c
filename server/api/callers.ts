import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiToken, Scope } from "../../core/settings/api_tokens.ts";

/** Who asks. */
export interface Caller {
  /** Name of the token, for the log. */
  readonly name: string;
  /** What it allows. */
  readonly scope: Scope;
}

/** The tokens of API and console. They are held as digests only. */
export interface KnownTokens {
  /** Whose token it is; null for an unknown one. */
  callerOf(token: string): Caller | null;
}

/**
 * Holds tokens. Digests are compared, each with every one, so that the time it
 * takes reveals nothing of them.
 */
export function knownTokens(
  tokens: readonly ApiToken[],
): KnownTokens | null {
  if (tokens.length === 0) return null;
  const known = tokens.map(({ token, name, scope }, index) => ({
    name: name ?? `${scope}-${index + 1}`,
    scope,
    digest: digestOf(token),
  }));
  return {
    callerOf: (token) => {
      const digest = digestOf(token);
      let caller: Caller | null = null;
      for (const { name, scope, digest: one } of known) {
        if (timingSafeEqual(one, digest)) caller = { name, scope };
      }
      return caller;
    },
  };
}

/** Makes the function that says who asks, by the header `Authorization`. */
export function callers(
  tokens: readonly ApiToken[],
): (request: Pick<Request, "headers">) => Caller | null {
  const known = knownTokens(tokens);
  if (known === null) return () => ({ name: "anybody", scope: "read" });
  return ({ headers }) => {
    const [, token = ""] =
      /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
    return known.callerOf(token);
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
