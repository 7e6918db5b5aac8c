import { emptyRecord } from "../../../core/guards.ts";

/** How a value is written into JSON, and read from it again. */
export interface Codec<Value> {
  /** Writes the value. */
  readonly pack: (value: Value) => unknown;
  /** Reads what `pack` wrote. */
  readonly unpack: (packed: unknown) => Value;
}

/** Marks a field that JSON holds as it is. */
export const asIs: unique symbol = Symbol("as is");

/** Fields that JSON holds as they are. */
export function asIsEach<Field extends string>(
  fields: readonly Field[],
): Readonly<Record<Field, typeof asIs>> {
  return Object.fromEntries(
    fields.map((field) => [field, asIs]),
  ) as Record<Field, typeof asIs>;
}

/** How a field is written; its type is checked where a shape is listed. */
type FieldCodec = Codec<unknown> | typeof asIs;

/** How each field of a shape is written, in the order of their places. */
export type CodecsOf<Shape> = {
  readonly [Field in keyof Shape]-?: Codec<Shape[Field]> | typeof asIs;
};

/**
 * A shape written without names: an array of its fields, in the order in which
 * `fields` lists them. It is half as large as an object.
 */
export function byPlace<Shape extends object>(
  fields: CodecsOf<Shape>,
): Codec<Shape> {
  const names = Object.keys(fields) as (keyof Shape)[];
  const codecs = Object.values(fields) as FieldCodec[];
  const empty = emptyRecord(names);
  const coded = codecs.flatMap((codec, place) =>
    codec === asIs ? [] : [[place, codec] as const]
  );
  return {
    pack(value) {
      const packed: unknown[] = names.map((name) => value[name]);
      for (const [place, codec] of coded) {
        packed[place] = codec.pack(packed[place]);
      }
      return packed;
    },
    unpack(packed) {
      const places = packed as Shape[keyof Shape][];
      const value = { ...empty } as unknown as Shape;
      for (let place = 0; place < names.length; place++) {
        value[names[place] as keyof Shape] =
          places[place] as Shape[keyof Shape];
      }
      for (const [place, codec] of coded) {
        value[names[place] as keyof Shape] = codec.unpack(
          places[place],
        ) as Shape[keyof Shape];
      }
      return value;
    },
  };
}

/** A value, or null. */
export function nullable<Value>(codec: Codec<Value>): Codec<Value | null> {
  return {
    pack: (value) => value === null ? null : codec.pack(value),
    unpack: (packed) => packed === null ? null : codec.unpack(packed),
  };
}

/** A list of values. */
export function list<Value>(codec: Codec<Value>): Codec<readonly Value[]> {
  return {
    pack: (values) => values.map(codec.pack),
    unpack: (packed) => (packed as readonly unknown[]).map(codec.unpack),
  };
}
