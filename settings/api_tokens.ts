import { UsageError } from "./errors.ts";

/** What a token allows; `operate` allows to read as well. */
export type Scope = "read" | "operate";

/** A token that opens API and console. */
export interface ApiToken {
  /** The secret. */
  readonly token: string;
  /** The name of its holder, for the log; null where none was given. */
  readonly name: string | null;
  /** What it allows. */
  readonly scope: Scope;
}

/** A shorter token could be guessed, in characters. */
const SHORTEST = 16;

/**
 * Reads tokens: `read:TOKEN,operate@NAME:TOKEN`.
 *
 * @param setting How the setting is called.
 * @throws {UsageError} When an entry is wrong; the message holds no token.
 */
export function readApiTokens(
  setting: string,
  text: string,
): readonly ApiToken[] {
  const entries = text.split(",").map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const wrong = (what: string) => new UsageError(`Wrong ${setting}: ${what}`);
  return entries.map((entry, index) => {
    const which = `token ${index + 1} of ${entries.length}`;
    const [, scope, name, token = ""] =
      /^(read|operate)(?:@([A-Za-z0-9._-]{1,64}))?:(.*)$/.exec(entry) ?? [];
    if (scope !== "read" && scope !== "operate") {
      throw wrong(
        `${which} does not begin with read: or operate:, or its name has ` +
          "other characters than letters, digits and . _ -; write " +
          "read:TOKEN or operate@NAME:TOKEN",
      );
    }
    if (!/^[A-Za-z0-9._~+/=-]+$/.test(token)) {
      throw wrong(
        `${which} is empty, or has a character that a bearer token cannot ` +
          "have; use letters, digits and . _ ~ + / = -",
      );
    }
    if (token.length < SHORTEST) {
      throw wrong(
        `${which} has ${token.length} characters, and fewer than ${SHORTEST} ` +
          "could be guessed; a fresh one: openssl rand -hex 24",
      );
    }
    return { token, name: name ?? null, scope };
  });
}
