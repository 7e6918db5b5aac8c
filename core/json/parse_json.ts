/** Strings of a JSON text, each with the colon that makes it a name. */
const nameOrText = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;
/** Strings of a JSON text, and every other character except spaces. */
const textOrMark = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]/g;

/** Begins an object, or an array, once names have become values. */
const OBJECT = 0;
const ARRAY = 1;

/**
 * `JSON.parse` without one fault of V8: it can mistake an escaped name
 * (`{"\u0061": 1}`) for another name that it has parsed before in the same
 * process. The same text must always give the same value. So a text with
 * escaped names is parsed with each name in the place of a value, where V8 reads
 * escapes correctly.
 *
 * @param text A JSON text.
 * @returns The value.
 * @throws {SyntaxError} When `text` is not JSON.
 *
 * @example Read an escaped name
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseJson('{"\\u0061": [1, {}]}'), { a: [1, {}] });
 * ```
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedName(text) ? fromPairs(JSON.parse(toPairs(text))) : value;
}

/** Whether a name in a JSON text is written with a backslash. */
function hasEscapedName(text: string): boolean {
  if (!text.includes("\\")) return false;
  for (const [token] of text.matchAll(nameOrText)) {
    if (token.endsWith(":") && token.includes("\\")) return true;
  }
  return false;
}

/** `{"a": [x]}` as `[0, ["a", [1, x]]]`. */
function toPairs(text: string): string {
  const open: { readonly isObject: boolean; members: number }[] = [];
  const out = new GrowingText();
  let isName = false;
  let commaDue = false;
  const begin = (): void => {
    const inside = open.at(-1);
    if (inside === undefined) return;
    if (!inside.isObject && commaDue) out.add(",");
    commaDue = false;
  };
  for (const token of text.match(textOrMark) ?? []) {
    const inside = open.at(-1);
    switch (token) {
      case "{":
      case "[":
        begin();
        open.push({ isObject: token === "{", members: 0 });
        out.add(token === "{" ? `[${OBJECT}` : `[${ARRAY}`);
        isName = token === "{";
        commaDue = token === "[";
        break;
      case "}":
        out.add((inside?.members ?? 0) > 0 ? "]]" : "]");
        open.pop();
        isName = false;
        break;
      case "]":
        out.add("]");
        open.pop();
        commaDue = false;
        break;
      case ":":
        out.add(",");
        break;
      case ",":
        if (inside?.isObject) {
          out.add("]");
          isName = true;
        } else commaDue = true;
        break;
      default:
        if (isName && inside !== undefined) {
          out.add(`,[${token}`);
          inside.members++;
          isName = false;
        } else {
          begin();
          out.add(token);
        }
    }
  }
  return out.toString();
}

/** A value, and where it is to go. */
type Waiting = [into: object, name: string, value: unknown];

/** Undoes {@linkcode toPairs}; without recursion, however deep it goes. */
function fromPairs(root: unknown): unknown {
  const whole: Record<string, unknown> = {};
  const waiting: Waiting[] = [[whole, "root", root]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [into, name, value] = next;
    define(
      into,
      name,
      Array.isArray(value) ? container(value, waiting) : value,
    );
  }
  return whole.root;
}

/** The object or array of one level; its elements are read later. */
function container(
  [kind, ...members]: readonly unknown[],
  waiting: Waiting[],
): object {
  if (kind === ARRAY) {
    const items: unknown[] = members.map(() => null);
    members.forEach((item, at) => waiting.push([items, String(at), item]));
    return items;
  }
  const made = {};
  // Of a name that repeats the last value counts, in the place of the first.
  for (const [name, value] of new Map(members as [string, unknown][])) {
    define(made, name, null);
    waiting.push([made, name, value]);
  }
  return made;
}

/** Plain assignment would make `__proto__` something else than a field. */
function define(into: object, name: string, value: unknown): void {
  if (name !== "__proto__") {
    (into as Record<string, unknown>)[name] = value;
    return;
  }
  Object.defineProperty(into, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Characters that are put together before they are made one flat text. */
const flatAfter = 65_536;

/**
 * A text that is put together from many pieces. A plain `+=` keeps an object
 * for each piece until the end, many times the size of the text itself.
 */
export class GrowingText {
  readonly #parts: string[] = [];
  #tail = "";

  /** Appends a piece. */
  add(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length > flatAfter) this.#flatten();
  }

  /** The whole text. */
  toString(): string {
    return this.#parts.length === 0
      ? this.#tail
      : this.#parts.join("") + this.#tail;
  }

  #flatten(): void {
    // Looking at a character makes the engine copy the pieces into one text.
    this.#tail.charCodeAt(0);
    this.#parts.push(this.#tail);
    this.#tail = "";
  }
}
