/** Whether a value is an object with named fields: no null and no array. */
export function isRecord(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a text that is a JSON object; null of any other text. */
export function jsonRecord(
  text: string,
): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a value is one of a list. */
export function isOneOf<Value>(
  list: readonly Value[],
  value: unknown,
): value is Value {
  return (list as readonly unknown[]).includes(value);
}

/** What a thrown system error is called, `ENOENT` for one; else undefined. */
export function errorCode(error: unknown): unknown {
  return isRecord(error) ? error.code : undefined;
}

/** Turns a thrown value into text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A type without its undefined fields. */
export type Defined<T> =
  & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<
      T[K],
      undefined
    >;
  };

/** The same object without its undefined fields. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}

/**
 * An object that has the fields, to be copied and filled. Filled by name from
 * nothing, an object of many fields would be a slow hash table in V8; one from
 * `JSON.parse` is not.
 */
export function emptyRecord<Field extends PropertyKey>(
  fields: readonly Field[],
): Readonly<Record<Field, null>> {
  return JSON.parse(
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))),
  );
}

/** Makes objects that have the same fields, each value given by its name. */
export function recordBy<Field extends PropertyKey>(
  fields: readonly Field[],
): <Value>(value: (field: Field) => Value) => Record<Field, Value> {
  const empty = emptyRecord(fields);
  return <Value>(value: (field: Field) => Value) => {
    const made = { ...empty } as Record<Field, Value>;
    for (const field of fields) made[field] = value(field);
    return made;
  };
}

/** Levels of nesting beyond which a value is not read further. */
const DEEPEST_LEVEL = 100;

/**
 * Whether arrays and objects are nested deeper than `levels`. It does not
 * recurse, so it is safe for any value, and it costs nothing for plain ones.
 */
export function isDeeperThan(
  value: unknown,
  levels: number = DEEPEST_LEVEL,
): boolean {
  if (typeof value !== "object" || value === null) return false;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    const next: object[] = [];
    for (const holder of level) {
      for (const inner of Object.values(holder)) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
