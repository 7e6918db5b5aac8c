const utf8 = new TextEncoder();

/** The identifiers of a body. */
export const IDENTIFIERS = [
  "click",
  "session",
  "user",
  "order",
  "external",
] as const;

/** Which identifiers a body has that no other body had. */
export function identifierBody(
  { at, names, length, character }: {
    /** Which body. */
    readonly at: number;
    /** Identifiers that are as long as is said; the others are left out. */
    readonly names: readonly string[];
    /** Characters of each. */
    readonly length: number;
    /** What fills them. */
    readonly character: string;
  },
): Uint8Array<ArrayBuffer> {
  const id = (name: string): string | undefined => {
    if (!names.includes(name)) {
      return name === "order" ? String(at) : undefined;
    }
    // In no order, as ids that are drawn by chance.
    const number = (at * 40_503) % 65_536;
    const unique = length === 1
      ? String.fromCodePoint(0x4e00 + at)
      : `${number.toString(36)}${length < 10 ? "" : name}`;
    return unique.padEnd(length, character).slice(0, length);
  };
  return utf8.encode(JSON.stringify({
    type: "order_complete",
    click_id: id("click"),
    hpp_session_id: id("session"),
    user: { user_id: id("user") },
    order: { id: id("order"), external_order_id: id("external") },
  }));
}
