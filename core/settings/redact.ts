import { withoutPasswords } from "./addresses.ts";
import { SETTINGS, VARIABLE_NAMES, VARIABLES } from "./settings.ts";

/** The variables whose values no message may show. */
const SECRET_VARIABLES = VARIABLE_NAMES
  .filter((name) => "isSecret" in SETTINGS[name])
  .map((name) => VARIABLES[name]);

/**
 * Replaces every configured secret in a text that is about to be shown. Our own
 * messages hold none; this is for messages of libraries and systems.
 */
export function redact(
  text: string,
  env: (name: string) => string | undefined,
): string {
  let shown = withoutPasswords(text);
  for (const name of SECRET_VARIABLES) {
    for (const secret of (env(name) ?? "").split(/[,\s]/)) {
      // A token of the API stands behind its scope and name, and what opens a
      // service behind the name of the service.
      const value = secret.replace(
        /^(?:(?:read|support|operate)(?:@[^:]*)?|slack|pagerduty):/,
        "",
      );
      if (value.length > 3) shown = shown.replaceAll(value, "[secret]");
    }
  }
  return shown;
}
