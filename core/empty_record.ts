/**
 * An object that has the fields, to be copied and filled. Filled by name from
 * nothing, an object of many fields would be a slow hash table in V8; one from
 * `JSON.parse` is not.
 *
 * @param fields The names.
 * @returns An object in which each of them is null.
 */
export function emptyRecord<Field extends PropertyKey>(
  fields: readonly Field[],
): Readonly<Record<Field, null>> {
  return JSON.parse(
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, null]))),
  );
}
