/**
 * Writes `components.json`, each field on a line: JSON Schemas of the types that
 * `types.ts` exports, which refer to each other as the components of an OpenAPI
 * document do. Every other type is written out where it is used.
 * `deno task schemas` runs it.
 *
 * What types cannot say follows from the names of fields: a number counts, and
 * is whole and not negative, unless it is named `...Ms`; a text named `...At`,
 * `...Since` or `...UpTo`, or described as "UTC ISO 8601", is a time, unless its
 * comment has the word "empty". `@asType` and `@minimum` in a comment say
 * otherwise.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import {
  createFormatter,
  createParser,
  createProgram,
  DEFAULT_CONFIG,
  type NodeParser,
  type Schema,
  SchemaGenerator,
} from "ts-json-schema-generator";

/** What stands before the name of a type in what the generator gives. */
const DEFINITION = "#/definitions/";

/**
 * Components that a partner writes, and no program prints: there a field that
 * nobody knows is a mistake, and not one that was added later.
 */
const WRITTEN_BY_PARTNERS = /^ChainsFile\b/;

/** What TypeScript's library says of `Pick`, `Omit` and their like. */
const LIBRARY =
  /^(?:From T, pick|Construct a type|Make all prop|Exclude from T)/;

/** Marks a name that stands for one of another file, to the compiler. */
const ALIAS = 1 << 21;

const path = fileURLToPath(new URL("types.ts", import.meta.url));
const config = {
  ...DEFAULT_CONFIG,
  path,
  tsconfig: path.replace("types.ts", "tsconfig.json"),
  // Otherwise it does not find what an interface has from another one.
  additionalProperties: false,
  encodeRefs: false,
  sortProps: false,
  // `deno task check` does that.
  skipTypeCheck: true,
};
const program = createProgram(config);
const checker = program.getTypeChecker();
const parser = createParser(program, config, (all) => {
  const others = all as typeof all & NodeParser;
  // A constant that another one names, as in `{ match: MATCH_FACTS }`, has the
  // type of its value: the generator knows values only where they are written.
  all.addNodeParser({
    supportsNode: (node) => Object.hasOwn(node, "escapedText"),
    createType: (node, context, reference) => {
      const symbol = meant(checker.getSymbolAtLocation(node));
      const { initializer } = Object(symbol?.valueDeclaration);
      return others.createType(initializer, context, reference);
    },
  });
});
const generator = new SchemaGenerator(
  program,
  parser,
  createFormatter(config),
  config,
);

/** The types that the generator found, by their name. */
const types = new Map<string, Schema>();
/** Name of the component of a type. */
const components = new Map<string, string>();

const file = program.getSourceFile(path);
const exported = file && checker.getSymbolAtLocation(file);
const roots = exported ? checker.getExportsOfModule(exported) : [];
const schemas = roots.map((symbol) => {
  const [declared] = meant(symbol)?.declarations ?? [];
  if (declared === undefined) throw new TypeError(`No type: ${symbol.name}`);
  const isHere = declared.getSourceFile() === file;
  const { $schema: _, definitions, ...schema } = generator
    .createSchemaFromNodes([isHere ? Object(declared).type : declared]);
  for (const [name, type] of Object.entries(definitions ?? {})) {
    types.set(name, Object(type));
  }
  if (schema.$ref !== undefined) components.set(typeOf(schema), symbol.name);
  const [{ text = "" } = {}] = isHere
    ? symbol.getDocumentationComment(checker)
    : [];
  const said = text && { description: text.replaceAll("\n", " ") };
  return [symbol.name, { ...schema, ...said }] as const;
});
const described = schemas.toSorted(([a], [b]) => a < b ? -1 : 1)
  .map(([name, { $ref, ...own }]) => {
    const type = $ref && types.get(typeOf({ $ref }));
    return [name, published({ ...type, ...own }, name)] as const;
  });
await Deno.writeTextFile(
  new URL("../../resources/schemas/components.json", import.meta.url),
  textOf(described),
);

function meant(symbol: ReturnType<typeof checker.getSymbolAtLocation>) {
  return symbol && symbol.flags & ALIAS
    ? checker.getAliasedSymbol(symbol)
    : symbol;
}

function typeOf({ $ref = "" }: Schema): string {
  return $ref.slice(DEFINITION.length);
}

/** A schema as it is published; a comment holds for what has none inside. */
function published(schema: Schema, path: string, outer = ""): Schema {
  const { $ref, description: said, default: _, ...rest } = schema;
  const description = LIBRARY.test(said ?? "") ? undefined : said;
  const comment = description ?? outer;
  const described = description && { description: plainText(description) };
  if ($ref !== undefined) {
    const component = components.get(typeOf(schema));
    const whole = component === undefined
      ? published({ ...types.get(typeOf(schema)) }, path, comment)
      : { $ref: `#/components/schemas/${component}` };
    return { ...whole, ...described };
  }
  if (Object.keys(rest).length === 0) {
    throw new TypeError(`Nothing is known of the type of ${path}`);
  }
  const { anyOf, items, properties, additionalProperties, ...own } = rest;
  const of = (one: unknown) => published(Object(one), path, comment);
  const isClosed = additionalProperties === false &&
    WRITTEN_BY_PARTNERS.test(path);
  return {
    ...described,
    ...byName(own, path, comment),
    ...(anyOf && anyOfThese(anyOf.map(of))),
    ...(items && { items: of(items) }),
    ...(typeof additionalProperties === "object" &&
      { additionalProperties: of(additionalProperties) }),
    ...(isClosed && { additionalProperties }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties)
          .filter(([, one]) => Object(one).not === undefined) // Never there.
          .map(([name, one]) => [
            name,
            published(Object(one), `${path}.${name}`, comment),
          ]),
      ),
    }),
  };
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
