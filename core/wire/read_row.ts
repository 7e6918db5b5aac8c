import { isRecord } from "../guards.ts";
import { isDeeperThan } from "../json/json_depth.ts";
import { isLongText } from "./identifier.ts";
import { LONGEST_DECIMAL, soundFields } from "./_sound_order.ts";
import type { OddField, OddValue } from "./odd_field.ts";
import type { Order } from "./order.ts";
import {
  type FieldShape,
  type ListedWireField,
  ORDER_FIELD_NAMES,
  orderField,
} from "./order_fields.ts";
import {
  CARD_FIELDS,
  LIMIT_FIELDS,
  USER_FIELDS,
  userShapes,
} from "./user_fields.ts";
import type {
  LinkedCard,
  LinkedPaymentMethod,
  User,
  UserLimits,
} from "./user.ts";

/** What a field of a row may hold; JSON null is allowed everywhere. */
type Shape =
  | FieldShape
  | "boolean"
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly each: Shape };

type ShapesOf<T> = Readonly<Record<keyof T, Shape>>;
type Row = Readonly<Record<string, unknown>>;

const orderShapes = {
  status: "text",
  created_at: "text",
  changed_at: "text",
  ...Object.fromEntries(
    ORDER_FIELD_NAMES.map(orderField).map(({ wire, shape }) => [wire, shape]),
  ) as Readonly<Record<ListedWireField, FieldShape>>,
} satisfies ShapesOf<Omit<Order, "order_id" | "additional_data">>;

const USER_SHAPES = {
  ...userShapes(USER_FIELDS),
  limits: {
    fields: userShapes(LIMIT_FIELDS) satisfies ShapesOf<UserLimits>,
  },
  linked_payment_methods: {
    each: {
      fields: {
        method: "text",
        cards: {
          each: {
            fields: userShapes(CARD_FIELDS) satisfies ShapesOf<LinkedCard>,
          },
        },
      } satisfies ShapesOf<LinkedPaymentMethod>,
    },
  },
} satisfies ShapesOf<Omit<User, "user_id">>;

/** An amount may be empty, which is how the service says that there is none. */
const decimalText = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)?$/;
/** The most odd fields reported of one row, and the longest name reported. */
const mostOddFields = 20;
const longestName = 100;

/** A row, field by field. */
export interface RowRead<T> {
  /** The row without what could not be read. */
  readonly row: T;
  /** The fields that were left out. */
  readonly odd: readonly OddField[];
}

/** An order without its identifier, which is another question. */
export type OrderFields = Omit<Order, "order_id">;

/** A user without its identifier. */
export type UserFields = Omit<User, "user_id">;

/**
 * Reads an order of the orders endpoint field by field: sound fields are kept,
 * the others are left out and reported. A status that cannot be read is null.
 * Unknown fields are kept.
 *
 * @param row The decoded row, its numbers as decimal strings.
 * @param mayHoldNul Whether the text of the row has the escape `\u0000`.
 * @returns The order and the fields that were left out; `row` itself when
 * nothing was.
 */
export function readOrderRow(
  row: Row,
  mayHoldNul: boolean,
): RowRead<OrderFields> {
  if (!mayHoldNul && isSoundOrder(row)) {
    return { row: row as unknown as OrderFields, odd: none };
  }
  const read = readFields(row, orderShapes);
  const stated = row.status;
  if (stated === undefined || stated === null || stated === "") {
    read.odd.push({
      field: "status",
      value: stated === undefined
        ? "missing"
        : stated === null
        ? "null"
        : "empty",
    });
  }
  const status = read.row.status;
  return reported({
    row: {
      ...read.row,
      status: typeof status === "string" && status !== "" ? status : null,
    },
    odd: read.odd,
  });
}

/**
 * Reads a user of the users endpoint field by field, in the way of
 * {@linkcode readOrderRow}.
 *
 * @param row The decoded row, its numbers as decimal strings.
 * @returns The user and the fields that were left out.
 */
export function readUserRow(row: Row): RowRead<UserFields> {
  return reported(readFields(row, USER_SHAPES));
}

const none: readonly OddField[] = [];

/** Whether a row without NUL needs no second look, field by field. */
function isSoundOrder(row: Row): boolean {
  const looked = soundFields(row);
  return looked > 0 &&
    (Object.keys(row).length === looked ||
      Object.entries(row).every(([name, value]) => isSoundField(name, value)));
}

function isSoundField(name: string, value: unknown): boolean {
  if (isDeeperThan(value)) return false;
  if (value === null || !Object.hasOwn(orderShapes, name)) return true;
  const shape = orderShapes[name as keyof typeof orderShapes];
  return isSoundText(value, shape) &&
    !(shape === "identifier" && isLongText(value));
}

function readFields(
  row: Row,
  shapes: Readonly<Record<string, Shape>>,
): { row: Record<string, unknown>; odd: OddField[] } {
  const odd: OddField[] = [];
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(row)) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    const sound = isDeeperThan(value)
      ? leaveOut(name, "too_deep", odd)
      : shape === undefined
      ? value
      : soundPart(value, shape, name, odd);
    if (sound !== undefined) kept.push([name, sound]);
  }
  return { row: Object.fromEntries(kept), odd };
}

/** The sound part of a value; undefined when it has to be left out. */
function soundPart(
  value: unknown,
  shape: Shape,
  path: string,
  odd: OddField[],
): unknown {
  if (value === null) return null;
  if (shape === "boolean") {
    return typeof value === "boolean"
      ? value
      : leaveOut(path, kindOf(value), odd);
  }
  if (typeof shape === "string") {
    if (!isSoundText(value, shape)) return leaveOut(path, kindOf(value), odd);
    return shape === "identifier" && isLongText(value)
      ? leaveOut(path, "too_long", odd)
      : value;
  }
  if ("each" in shape) {
    if (!Array.isArray(value)) return leaveOut(path, kindOf(value), odd);
    return value.map((item, at) =>
      item === null
        ? leaveOut(`${path}.${at}`, "null", odd)
        : soundPart(item, shape.each, `${path}.${at}`, odd)
    ).filter((item) => item !== undefined);
  }
  if (!isRecord(value)) return leaveOut(path, kindOf(value), odd);
  const parts = Object.entries(value).map(([name, part]) => {
    const inner = Object.hasOwn(shape.fields, name)
      ? shape.fields[name]
      : undefined;
    return [
      name,
      inner === undefined
        ? part
        : soundPart(part, inner, `${path}.${name}`, odd),
    ] as const;
  });
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

function isSoundText(
  value: unknown,
  shape: FieldShape,
): boolean {
  if (typeof value !== "string" || value.includes("\0")) return false;
  return shape !== "decimal" ||
    (value.length <= LONGEST_DECIMAL && decimalText.test(value));
}

function leaveOut(field: string, value: OddValue, odd: OddField[]): undefined {
  odd.push({ field, value });
}

function kindOf(value: unknown): OddValue {
  if (typeof value === "string") return value.includes("\0") ? "nul" : "text";
  if (typeof value === "boolean") return "boolean";
  return Array.isArray(value) ? "array" : "object";
}

/** Limits the size of what is reported of a row. */
function reported<T>(
  { row, odd }: { row: unknown; odd: OddField[] },
): RowRead<T> {
  if (odd.length === 0) return { row: row as T, odd: none };
  const listed = odd.slice(0, mostOddFields).map(({ field, value }) => ({
    field: field.slice(0, longestName).toWellFormed().replaceAll("\0", ""),
    value,
  }));
  listed.sort((a, b) => a.field < b.field ? -1 : a.field > b.field ? 1 : 0);
  return { row: row as T, odd: listed };
}
