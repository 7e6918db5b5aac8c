import assert from "node:assert/strict";

/** A key that stands for any. */
const ANY = "*";

/**
 * Holds an answer against the example under its heading in COMMANDS.md: it has
 * every field of the example at its top, no field at any depth that the example
 * lacks, and values of the same kinds. Null, and a list without elements, say
 * nothing of what is below.
 */
export async function hasDocumentedShape(
  heading: string,
  answer: unknown,
): Promise<void> {
  const documented = await documentedShapes();
  const example = documented.get(heading);
  assert.ok(example !== undefined, `COMMANDS.md has no shape of ${heading}`);
  assert.deepEqual(
    Object.keys(Object(answer)).sort(),
    Object.keys(Object(example)).sort(),
    heading,
  );
  assert.deepEqual(differences(example, answer, heading), []);
}

/** The headings that have an example, and the examples. */
export async function documentedShapes(): Promise<Map<string, unknown>> {
  const text = await Deno.readTextFile(
    new URL("../../COMMANDS.md", import.meta.url),
  );
  const shapes = new Map<string, unknown>();
  for (const section of text.split(/^### /m).slice(1)) {
    const heading = section.slice(0, section.indexOf("\n"));
    const example = /^```json\n([\s\S]*?)^```/m.exec(section)?.[1];
    if (example !== undefined) shapes.set(heading, JSON.parse(example));
  }
  return shapes;
}

function differences(example: unknown, value: unknown, at: string): string[] {
  if (example === null || value === null) return [];
  if (Array.isArray(example) && Array.isArray(value)) {
    const [first] = example;
    if (first === undefined) return [];
    return value.flatMap((one) => differences(first, one, `${at}[]`));
  }
  const kinds = [kindOf(example), kindOf(value)];
  if (kinds[0] !== kinds[1]) return [`${at}: ${kinds.join(" and ")}`];
  if (kinds[0] !== "object") return [];
  const shapes: Record<string, unknown> = Object(example);
  // An empty object stands for one that is described elsewhere.
  if (Object.keys(shapes).length === 0) return [];
  return Object.entries(Object(value)).flatMap(([key, inner]) => {
    const known = shapes[key] === undefined ? shapes[ANY] : shapes[key];
    return known === undefined
      ? [`${at}.${key}: is not documented`]
      : differences(known, inner, `${at}.${key}`);
  });
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}
