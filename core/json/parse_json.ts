/** Strings of a JSON text, each with the colon that makes it a name. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;

/**
 * `JSON.parse` without one fault of V8: it can mistake an escaped name
 * (`{"\u0061": 1}`) for another name that it has parsed before in the same
 * process. The same text must always give the same value. So each escaped name
 * is written without escape, or as a stand-in that is replaced afterwards.
 *
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes("\\") || !text.match(STRING)?.some(isEscapedName)) {
    return value;
  }
  const mark = unusedIn(text);
  const standIns = new Map<string, string>();
  const plain = text.replace(STRING, (token) => {
    if (!isEscapedName(token)) return token;
    const name: string = JSON.parse(token.slice(0, -1));
    const written = JSON.stringify(name);
    if (!written.includes("\\") && !written.includes(mark)) {
      return `${written}:`;
    }
    const standIn = mark + [...name].map((one) => one.codePointAt(0)).join("-");
    standIns.set(standIn, name);
    return `"${standIn}":`;
  });
  const read: unknown = JSON.parse(plain);
  if (standIns.size > 0) putBack(standIns, read);
  return read;
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

/** Puts names where their stand-ins are; without recursion, at any depth. */
function putBack(names: ReadonlyMap<string, string>, root: unknown): void {
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    const members = Object.entries(value);
    for (const [, member] of members) waiting.push(member);
    if (!members.some(([name]) => names.has(name))) continue;
    for (const [name] of members) Reflect.deleteProperty(value, name);
    for (const [name, member] of members) {
      // Plain assignment would make `__proto__` something else than a field.
      Object.defineProperty(value, names.get(name) ?? name, {
        value: member,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
}
