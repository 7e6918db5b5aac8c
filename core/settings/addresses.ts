import { UsageError } from "./errors.ts";

/** The database used when none is named. */
export const DEFAULT_DATABASE_URL = "file:rampkit.db";

/**
 * Takes user and password out of every address in a text: of
 * `libsql://me:word@host` it leaves `libsql://[secret]@host`. What follows
 * `file:` is a path, in which an @ is nothing special.
 */
export function withoutPasswords(text: string): string {
  return text.replace(
    /\b([a-z][a-z0-9+.-]*):(\/\/)?[^\s"'<>]*@/gi,
    (found, scheme: string, slashes: string | undefined) =>
      scheme.toLowerCase() === "file"
        ? found
        : slashes === undefined
        ? "[secret]@"
        : `${scheme}://[secret]@`,
  );
}

/** Reads an http address. */
export function httpUrl(name: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    // A query may hold a token.
    const shown = withoutPasswords(text).replace(/[?#].*$/s, "");
    throw new UsageError(
      `Wrong ${name}: "${shown}" is not an http or https address`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    // The value itself stays out of the message.
    throw new UsageError(
      `Wrong ${name}: the address holds a user or a password; take them out`,
    );
  }
  return text.replace(/\/+$/, "");
}

/** Reads the address of a database. */
export function databaseUrl(name: string, text: string): string {
  if (/^file:\/*$/.test(text)) {
    throw new UsageError(
      `Wrong ${name}: "${text}" names no file; write for example ` +
        DEFAULT_DATABASE_URL,
    );
  }
  if (text === ":memory:" || /^(file|libsql|https?|wss?):/.test(text)) {
    return text;
  }
  const schemes = "none of file:, libsql:, https:, http:, wss:, ws:";
  // The rest of an address may hold a password.
  const [scheme] = /^[^/]+:\/\//.exec(text) ?? [];
  const shown = withoutPasswords(text);
  throw new UsageError(
    scheme === undefined
      ? `Wrong ${name}: "${shown}" starts with ${schemes}; for a file write ` +
        `file:${shown}`
      : `Wrong ${name}: ${scheme} is ${schemes}; a ledger is a file, or a ` +
        "database on sqld or Turso",
  );
}
