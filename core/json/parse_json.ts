/** Strings of a JSON text, each with the colon that makes it a name. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;

/**
 * `JSON.parse` without one fault of V8: it can mistake an escaped name
 * (`{"\u0061": 1}`) for another name that it has parsed before in the same
 * process. The same text must always give the same value. So each escaped name
 * is written without escape, or as a stand-in that is replaced afterwards.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes("\\") || !text.match(STRING)?.some(isEscapedName)) {
    return value;
  }
  const mark = unusedIn(text);
  const names: string[] = [];
  const plain = text.replace(STRING, (token) => {
    if (!isEscapedName(token)) return token;
    const name: string = JSON.parse(token.slice(0, -1));
    const written = JSON.stringify(name);
    if (!written.includes("\\") && !written.includes(mark)) {
      return `${written}:`;
    }
    return `"${mark}${names.push(name) - 1}":`;
  });
  const read: unknown = JSON.parse(plain);
  return names.length === 0
    ? read
    : putBack(read, (name) =>
      name.startsWith(mark)
        ? names[Number(name.slice(mark.length))]
        : undefined);
}

function isEscapedName(token: string): boolean {
  return token.endsWith(":") && token.includes("\\");
}

/** A character that a text does not have. */
function unusedIn(text: string): string {
  const used = new Set(text);
  let point = 0xe000;
  while (used.has(String.fromCodePoint(point))) point++;
  return String.fromCodePoint(point);
}

/**
 * Puts names in the place of their stand-ins; without recursion, at any depth.
 * Of a name that repeats the last value counts, in the place of the first.
 */
function putBack(
  root: unknown,
  nameOf: (standIn: string) => string | undefined,
): unknown {
  const top = { root };
  const waiting: [holder: object, name: string][] = [[top, "root"]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [holder, name] = next;
    let value: unknown = Reflect.get(holder, name);
    if (typeof value !== "object" || value === null) continue;
    if (Object.keys(value).some((name) => nameOf(name) !== undefined)) {
      value = Object.fromEntries(
        Object.entries(value).map((
          [name, held],
        ) => [nameOf(name) ?? name, held]),
      );
      // Plain assignment would make `__proto__` something else than a field.
      Object.defineProperty(holder, name, { value });
    }
    for (const [name, held] of Object.entries(value as object)) {
      if (typeof held === "object") waiting.push([value as object, name]);
    }
  }
  return top.root;
}
