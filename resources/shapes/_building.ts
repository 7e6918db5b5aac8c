import * as z from "zod";
import type { Open } from "../../core/webhook_event/webhook_event.ts";

/** What JSON Schema says of a schema beside its type. */
export interface ShapeNotes {
  /** Name among the definitions; schemas with one are referred to by it. */
  readonly id?: string;
  /** What it is. */
  readonly description?: string;
  /** Format of a text. */
  readonly format?: string;
  /** Values that are known. */
  readonly examples?: readonly string[];
}

/** Notes of the schemas here; nobody else's schemas are in it. */
export const NOTES: z.core.$ZodRegistry<ShapeNotes> = z.registry<ShapeNotes>();

/** Gives a schema a name among the definitions of JSON Schema. */
export function named<Schema extends z.ZodType>(
  id: string,
  description: string,
  schema: Schema,
): Schema {
  NOTES.add(schema, { id, description });
  return schema;
}

/** A text. */
export const text = z.string();

/** A text, or null where it is not known. */
export const textOrNull = text.nullable();

/** A time, UTC ISO 8601. */
export const time = z.string();
NOTES.add(time, { format: "date-time" });

/** A time, or null where there is none. */
export const timeOrNull = time.nullable();

/** An amount as a decimal string. */
export const decimalOrNull = z.string().nullable();

/** How many; never negative. */
export const count = z.int().nonnegative();

/** A length of time in milliseconds. */
export const ms = z.number();

/** A whole number, or null. */
export const countOrNull = count.nullable();

/** True or false. */
export const flag = z.boolean();

/** Lists the members of a union type; the compiler misses none of them. */
function membersOf<Member extends string>(
  all: Readonly<Record<Member, true>>,
): [Member, ...Member[]] {
  return Object.keys(all) as [Member, ...Member[]];
}

/** A text out of a closed list of ours. */
export function oneOf<Member extends string>(
  all: Readonly<Record<Member, true>>,
): z.ZodType<Member> {
  return z.enum(membersOf(all)) as unknown as z.ZodType<Member>;
}

/** A text out of a closed list of ours that stands elsewhere. */
export function among<Member extends string>(
  all: readonly Member[],
): z.ZodType<Member> {
  return z.enum(all);
}

/** A text out of a list to which the service may add. */
export function open<Known extends string>(
  known: Readonly<Record<Known, true>>,
): z.ZodType<Open<Known>> {
  return z.union([
    z.enum(membersOf(known)),
    z.string(),
  ]) as unknown as z.ZodType<
    Open<Known>
  >;
}

/** An object with the same kind of value under each of the keys. */
export function each<Key extends string, Value extends z.ZodType>(
  keys: Readonly<Record<Key, true>>,
  value: Value,
): z.ZodObject<Record<Key, Value>> {
  const fields = membersOf(keys).map((key) => [key, value]);
  return z.object(Object.fromEntries(fields) as Record<Key, Value>);
}

/** Fields of the objects of a union, by the code that tells them apart. */
type Cases = Readonly<Record<string, z.ZodRawShape>>;

/** The objects of a union that a code tells apart. */
type Coded<All extends Cases, More extends z.ZodRawShape> = {
  [Code in keyof All]: z.infer<
    z.ZodObject<All[Code] & More & { code: z.ZodLiteral<Code & string> }>
  >;
}[keyof All];

/** A union of objects that `code` tells apart. */
export function coded<All extends Cases, More extends z.ZodRawShape>(
  cases: All,
  more: More,
): z.ZodType<Coded<All, More>> {
  const [first, ...others] = Object.entries(cases).map(([code, fields]) =>
    z.object({ code: z.literal(code), ...fields, ...more })
  );
  if (first === undefined) throw new TypeError("A union needs a case");
  return z.discriminatedUnion(
    "code",
    [first, ...others],
  ) as unknown as z.ZodType<Coded<All, More>>;
}

/** A union of codes with their data, each with its sentence. */
export function worded<All extends Cases>(
  cases: All,
): z.ZodType<Coded<All, typeof message>> {
  return coded(cases, message);
}

/** The sentence made of a code. */
export const message = { message: text };

/** Codes without data. */
export function withoutFields<Code extends string>(
  codes: Readonly<Record<Code, true>>,
): Record<Code, Record<never, never>> {
  return Object.fromEntries(
    Object.keys(codes).map((code) => [code, {}]),
  ) as Record<Code, Record<never, never>>;
}

/** Codes that have the same data. */
export function withFields<Code extends string, Fields extends z.ZodRawShape>(
  codes: Readonly<Record<Code, true>>,
  fields: Fields,
): Record<Code, Fields> {
  return Object.fromEntries(
    Object.keys(codes).map((code) => [code, fields]),
  ) as Record<Code, Fields>;
}
