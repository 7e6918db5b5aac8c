/**
 * Writes the schemas of what is printed and served: `deno task schemas`.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import {
  type BaseType,
  type Context,
  createFormatter,
  createParser,
  createProgram,
  DEFAULT_CONFIG,
  type NodeParser,
  type ReferenceType,
  type Schema,
  SchemaGenerator,
  type SubNodeParser,
} from "ts-json-schema-generator";

/** What stands before the name of a component where it is referred to. */
const COMPONENT = "#/components/schemas/";

/** What stands before the name of a type in what the generator gives. */
const DEFINITION = "#/definitions/";

/**
 * Components that a partner writes, and no program prints: there a field that
 * nobody knows is a mistake, and not one that was added later.
 */
const WRITTEN_BY_PARTNERS: readonly string[] = ["ChainsFile"];

/** What TypeScript's library says of `Pick`, `Omit` and their like. */
const LIBRARY =
  /^(?:From T, pick|Construct a type|Make all prop|Exclude from T)/;

/** The types that the generator found, and which of them have a schema. */
interface Found {
  readonly types: Readonly<Record<string, Schema>>;
  /** Name of the component of a type. */
  readonly components: ReadonlyMap<string, string>;
}

/**
 * JSON Schemas of the types that `Components` in `types.ts` names, which refer
 * to each other as the components of an OpenAPI document do. Every other type is
 * written out where it is used.
 *
 * What types cannot say follows from the names of fields: a number counts, and
 * is whole and not negative, unless it is named `...Ms`; a text named `...At`,
 * `...Since` or `...UpTo`, or described as "UTC ISO 8601", is a time, unless its
 * comment has the word "empty". `@asType` and `@minimum` in a comment say
 * otherwise.
 *
 * @returns The text of `components.json`: each field on a line.
 * @throws {TypeError} When something is of a type of which nothing is known.
 */
export function generateSchemas(): string {
  const { properties = {}, definitions = {} } = generatorOf({
    ...DEFAULT_CONFIG,
    path: pathOf("types.ts"),
    tsconfig: pathOf("tsconfig.json"),
    type: "Components",
    topRef: false,
    // Otherwise it does not find what an interface has from another one.
    additionalProperties: false,
    encodeRefs: false,
    sortProps: false,
    // `deno task check` does that.
    skipTypeCheck: true,
  }).createSchema("Components");
  const roots = Object.entries(properties) as [string, Schema][];
  const found: Found = {
    types: definitions as Found["types"],
    components: new Map(
      roots.flatMap(([name, { $ref }]) =>
        $ref === undefined ? [] : [[$ref.slice(DEFINITION.length), name]]
      ),
    ),
  };
  return textOf(roots.map(([name, { $ref, ...own }]) => {
    const type = $ref && found.types[$ref.slice(DEFINITION.length)];
    return [name, published({ ...Object(type), ...own }, found, name)];
  }));
}

function generatorOf(
  config: Parameters<typeof createFormatter>[0],
): SchemaGenerator {
  const program = createProgram(config);
  const parser = createParser(program, config, (all) => {
    const others = all as typeof all & NodeParser;
    all.addNodeParser(new ConstantParser(program.getTypeChecker(), others));
  });
  return new SchemaGenerator(program, parser, createFormatter(config), config);
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

function published(
  schema: Schema,
  found: Found,
  path: string,
  outer = "",
): Schema {
  const { $ref, description: said, ...rest } = schema;
  const description = LIBRARY.test(said ?? "") ? undefined : said;
  const comment = description ?? outer;
  const described = description === undefined
    ? {}
    : { description: plainText(description) };
  if ($ref !== undefined) {
    const type = $ref.slice(DEFINITION.length);
    const component = found.components.get(type);
    return component === undefined
      ? {
        ...published({ ...found.types[type] }, found, path, comment),
        ...described,
      }
      : { $ref: COMPONENT + component, ...described };
  }
  if (Object.keys(rest).length === 0) {
    throw new TypeError(`Nothing is known of the type of ${path}`);
  }
  const { anyOf, items, properties, additionalProperties, ...own } =
    withDefault(
      rest,
    );
  const of = (one: unknown) => published(one as Schema, found, path, comment);
  return {
    ...described,
    ...byName(own, path, comment),
    ...(anyOf && anyOfThese(anyOf.map(of))),
    ...(items && { items: of(items) }),
    ...(typeof additionalProperties === "object" &&
      { additionalProperties: of(additionalProperties) }),
    ...(additionalProperties === false &&
      WRITTEN_BY_PARTNERS.includes(path.split(".", 1)[0] ?? "") &&
      { additionalProperties }),
    ...(properties && {
      properties: Object.fromEntries(
        (Object.entries(properties) as [string, Schema][])
          .filter(([, { not }]) => not === undefined) // It is never there.
          .map(([name, one]) => [
            name,
            published(one, found, `${path}.${name}`, comment),
          ]),
      ),
    }),
  };
}

/** `@default {"core"}` is a value, `@default {more than half}` a sentence. */
function withDefault({ default: given, ...rest }: Schema): Schema {
  const [, inner] = /^\{([^]*)\}$/.exec(String(given)) ?? [];
  try {
    return { ...rest, default: JSON.parse(inner ?? "") };
  } catch {
    return rest;
  }
}

/** One of some schemas: closed lists of texts are one list. */
function anyOfThese(schemas: readonly Schema[]): Schema {
  const flat = schemas.flatMap((one) =>
    one.anyOf !== undefined && one.description === undefined
      ? one.anyOf as Schema[]
      : [one]
  );
  const texts = new Set<string>();
  const others = new Map<string, Schema>();
  for (const one of flat) {
    const { type, const: only, enum: list } = one;
    const known = only === undefined ? list : [only];
    if (type === "string" && known !== undefined) {
      for (const text of known) texts.add(String(text));
    } else others.set(JSON.stringify(one), one);
  }
  const all: Schema[] = [...others.values()];
  if (texts.size > 0) all.unshift({ type: "string", enum: [...texts] });
  const [first = {}] = all;
  return all.length === 1 ? first : { anyOf: all };
}

/** What follows from the name and the comment of a field. */
function byName(schema: Schema, path: string, comment: string): Schema {
  const types = [schema.type ?? []].flat();
  const others = types.filter((type) => type !== "null");
  if (others.length !== 1 || schema.enum || schema.const) return schema;
  if (others[0] === "number" && !path.endsWith("Ms")) {
    const whole = types.map((type) => type === "number" ? "integer" : type);
    const [type = "integer"] = whole;
    const { minimum = 0 } = schema;
    return { ...schema, type: whole.length > 1 ? whole : type, minimum };
  }
  const isTime = /(?:At|[Ss]ince|[uU]pTo)$/.test(path) ||
    /UTC ISO 8601/.test(comment);
  return others[0] === "string" && isTime && !/\bempty\b/.test(comment)
    ? { ...schema, format: "date-time" }
    : schema;
}

/** A comment without links and sources, and without the stop of its last sentence. */
function plainText(comment: string): string {
  return comment
    .replaceAll(/\{@link(?:code|plain)?\s+([^}]*?)\s*\}/g, "`$1`")
    .replace(/\s*Source: [^]*$/, "")
    .replaceAll(/ {2,}/g, " ").replace(/\s*\.$/, "");
}

/** JSON of which every component is a block, and every field of it a line. */
function textOf(components: readonly (readonly [string, Schema])[]): string {
  const blocks = components.map(([name, { properties, ...schema }]) => {
    const fields = Object.entries(properties ?? {}).map(([field, one]) =>
      `\n  ${JSON.stringify(field)}: ${JSON.stringify(one)}`
    );
    const head = JSON.stringify(schema).slice(1, -1);
    return fields.length === 0
      ? `${JSON.stringify(name)}: {${head}}`
      : `${JSON.stringify(name)}: {${head}, "properties": {${fields}\n}}`;
  });
  return `{\n${blocks.join(",\n")}\n}\n`;
}

type Node = Parameters<SubNodeParser["supportsNode"]>[0];

/** The part of the compiler's type checker that is used here. */
interface Checker {
  getSymbolAtLocation(
    node: Node,
  ):
    | { readonly valueDeclaration?: unknown; readonly flags: number }
    | undefined;
  // deno-lint-ignore no-explicit-any
  getAliasedSymbol(symbol: any): { readonly valueDeclaration?: unknown };
}

/**
 * Reads a constant that another constant names, as in `{ match: MATCH_FACTS }`:
 * its type is that of its value. The generator itself knows values only where
 * they are written out.
 */
class ConstantParser implements SubNodeParser {
  readonly #checker: Checker;
  readonly #others: NodeParser;

  constructor(checker: Checker, others: NodeParser) {
    this.#checker = checker;
    this.#others = others;
  }

  supportsNode(node: Node): boolean {
    return Object.hasOwn(node, "escapedText");
  }

  createType(
    node: Node,
    context: Context,
    reference?: ReferenceType,
  ): BaseType {
    const symbol = this.#checker.getSymbolAtLocation(node);
    const declared = symbol && (symbol.valueDeclaration ??
      this.#checker.getAliasedSymbol(symbol).valueDeclaration);
    const { initializer } = Object(declared);
    if (initializer === undefined) {
      throw new TypeError(`No constant: ${Object(node).escapedText}`);
    }
    return this.#others.createType(initializer, context, reference);
  }
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../../resources/schemas/components.json", import.meta.url),
    generateSchemas(),
  );
}
