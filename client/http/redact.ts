/** Removes secrets from texts that were written elsewhere. */
export type Redact = (text: string) => string;

const hidden = "[hidden]";

/**
 * Makes a redactor for one call.
 *
 * @param secrets Exact texts to hide.
 * @param cards Whether runs of digits that can be card numbers are hidden too.
 */
export function redactor(secrets: readonly string[], cards: boolean): Redact {
  return (text) => {
    const forms = secrets.filter((secret) => secret !== "").flatMap((
      secret,
    ) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ]);
    let clean = text;
    for (const form of forms) clean = clean.replaceAll(form, hidden);
    return cards ? clean.replace(/\d(?:[ -]?\d){11,18}/g, hidden) : clean;
  };
}

/** A copy of a caught error that holds no secret; its own cause is dropped. */
export function cleanCause(error: unknown, redact: Redact): Error {
  const { name, message } = error instanceof Error
    ? error
    : { name: "Error", message: String(error) };
  const copy = new Error(redact(message));
  copy.name = redact(name);
  delete copy.stack;
  return copy;
}
