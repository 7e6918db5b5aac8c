import { UsageError } from "./errors.ts";

/** A webhook secret shorter than this, in characters, gets a warning. */
export const SHORT_SECRET_LENGTH = 16;

/** What documents and templates write where a key of one's own belongs. */
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\{.*\}|\$\w+|\$\{.*\}|x{3,}|\*{3,}|\.{3,}|(?:.*[-_])?your[-_].*|.*(?:change|replace)[-_]?(?:me|this)|(?:.*[-_])?placeholder|todo|tbd|none|null|undefined)$/i;

/** Reads the API key. */
export function apiKey(name: string, text: string): string {
  if (PLACEHOLDER.test(text)) {
    throw new UsageError(
      `Wrong ${name}: it is what a template writes in place of a key; set the ` +
        "key that the service gave you",
    );
  }
  if (/^[!-~]+$/.test(text)) return text;
  throw new UsageError(
    `Wrong ${name}: it has a character that no key has, such as a space or …; ` +
      "set the key that the service gave you",
  );
}

/** Reads webhook secrets, separated by commas. */
export function webhookSecrets(name: string, text: string): readonly string[] {
  const list = text.split(",").map((one) => one.trim()).filter(Boolean);
  const wrong = list.findIndex((one) => !/^[A-Za-z0-9._~-]+$/.test(one));
  if (wrong === -1) return list;
  throw new UsageError(
    `Wrong ${name}: secret ${
      wrong + 1
    } of ${list.length} has a character that ` +
      "an address cannot carry as is; use letters, digits and . _ ~ -",
  );
}
