import type { Transition } from "../projection/transition.ts";

/**
 * A pattern of transitions: `entity.trust.status`, each part a word or `*`, or
 * `*` alone: `order.confirmed.success`, `order.confirmed.*`, `user.*.banned`.
 */
export type TransitionPattern = string;

/**
 * Makes a predicate of patterns.
 *
 * @param on One pattern or several; any of them may match.
 * @throws {TypeError} When a pattern is none, or there is none.
 */
export function matcher(
  on: TransitionPattern | readonly TransitionPattern[],
): (transition: Pick<Transition, "entity" | "trust" | "status">) => boolean {
  const patterns = (typeof on === "string" ? [on] : on).map(parsePattern);
  if (patterns.length === 0) {
    throw new TypeError("Cannot subscribe to nothing: `on` is empty");
  }
  return (transition) =>
    patterns.some(([entity, trust, status]) =>
      (entity === "*" || entity === transition.entity) &&
      (trust === "*" || trust === transition.trust) &&
      (status === "*" || status === transition.status)
    );
}

function parsePattern(pattern: string): readonly [string, string, string] {
  if (pattern === "*") return ["*", "*", "*"];
  // A status not known here may hold dots, so all after the second is status.
  const [, entity, trust, status] =
    /^(\*|order|user)\.(\*|claimed|confirmed)\.(.+)$/s.exec(pattern) ?? [];
  if (entity === undefined || trust === undefined || status === undefined) {
    throw new TypeError(
      `Wrong pattern: ${JSON.stringify(pattern)}; write it like ` +
        '"order.confirmed.success", with * for any part',
    );
  }
  return [entity, trust, status];
}
