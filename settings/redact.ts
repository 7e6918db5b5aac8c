import { SETTINGS } from "./variables.ts";

/** The variables whose values no message may show. */
const SECRET_VARIABLES = Object.values(SETTINGS)
  .filter((setting) => "isSecret" in setting)
  .map(({ variable }) => variable);

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

/**
 * Blots out every configured secret in a text that is about to be shown. No
 * message of ours holds one; this is for those of libraries and systems.
 */
export function redact(
  text: string,
  env: (name: string) => string | undefined,
): string {
  let shown = withoutPasswords(text);
  for (const name of SECRET_VARIABLES) {
    for (const secret of (env(name) ?? "").split(",")) {
      // A token of the API stands behind its scope and name.
      const value = secret.trim().replace(/^(read|operate)(@[^:]*)?:/, "");
      if (value.length > 3) shown = shown.replaceAll(value, "[secret]");
    }
  }
  return shown;
}
