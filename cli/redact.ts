const SECRET_VARIABLES = [
  "RAMPKIT_API_KEY",
  "RAMPKIT_WEBHOOK_SECRET",
  "RAMPKIT_DATABASE_TOKEN",
];

/**
 * Blots out every configured secret in a text that is about to be shown. No
 * message of ours holds one; this is for those of libraries and systems.
 */
export function redact(
  text: string,
  env: (name: string) => string | undefined,
): string {
  let shown = text;
  for (const name of SECRET_VARIABLES) {
    for (const secret of (env(name) ?? "").split(",")) {
      const value = secret.trim();
      if (value.length > 3) shown = shown.replaceAll(value, "[secret]");
    }
  }
  return shown;
}
