/**
 * An id in the form in which it is compared: the service writes its ids in one
 * case, senders of webhooks in any.
 *
 * @param id The id, as somebody wrote it.
 */
export function comparedId(id: string): string {
  return id.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Whether two ids are the same, without regard to case. */
export function isSameId(a: string | null, b: string | null): boolean {
  return a === b ||
    (a !== null && b !== null && comparedId(a) === comparedId(b));
}
