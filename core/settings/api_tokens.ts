import { UsageError } from "./errors.ts";

/** What tokens can allow; each allows what those before it do. */
const SCOPES = ["read", "support", "operate"] as const;

/**
 * What a token allows: to read; to take notes as well; everything.
 */
export type Scope = (typeof SCOPES)[number];

/** Whether a token that allows the one allows the other. */
export function allows(scope: Scope, wanted: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(wanted);
}

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

/** Reads tokens: `read:TOKEN,operate@NAME:TOKEN`. */
export function readApiTokens(
  setting: string,
  text: string,
): readonly ApiToken[] {
  const entries = text.split(",").map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const wrong = (what: string) => new UsageError(`Wrong ${setting}: ${what}`);
  return entries.map((entry, index) => {
    const which = `token ${index + 1} of ${entries.length}`;
    const [, word, name, token = ""] =
      /^([a-z]+)(?:@([A-Za-z0-9._-]{1,64}))?:(.*)$/.exec(entry) ?? [];
    const scope = SCOPES.find((one) => one === word);
    if (scope === undefined) {
      throw wrong(
        `${which} does not begin with read:, support: or operate:, or its name has ` +
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
