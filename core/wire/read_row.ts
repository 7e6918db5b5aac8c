import { isDeeperThan, isRecord } from "../guards.ts";
import { isLongText } from "./identifier.ts";
import type { OddField, OddValue } from "./page.ts";
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
  | { readonly fields: Shapes }
  | { readonly each: Shape };
type Shapes = Readonly<Record<string, Shape>>;
type ShapesOf<T> = Readonly<Record<keyof T, Shape>>;
type Row = Readonly<Record<string, unknown>>;

const ORDER_SHAPES = {
  status: "text",
  created_at: "text",
  changed_at: "text",
  ...Object.fromEntries(
    ORDER_FIELD_NAMES.map(orderField).map(({ wire, shape }) => [wire, shape]),
  ) as Readonly<Record<ListedWireField, FieldShape>>,
} satisfies ShapesOf<Omit<Order, "order_id" | "additional_data">>;

const cards = userShapes(CARD_FIELDS) satisfies ShapesOf<LinkedCard>;
const methods = {
  method: "text",
  cards: { each: { fields: cards } },
} as const satisfies ShapesOf<LinkedPaymentMethod>;
const USER_SHAPES = {
  ...userShapes(USER_FIELDS),
  limits: { fields: userShapes(LIMIT_FIELDS) satisfies ShapesOf<UserLimits> },
  linked_payment_methods: { each: { fields: methods } },
} satisfies ShapesOf<Omit<User, "user_id">>;

/** The most characters of an amount; a longer text is not calculated with. */
const LONGEST_DECIMAL = 200;
/** An amount may be empty, which is how the service says that there is none. */
const DECIMAL = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)?$/;
/** The most odd fields reported of one row, and the longest name reported. */
const MOST_ODD_FIELDS = 20;
const LONGEST_NAME = 100;

/** A row, field by field. */
export interface RowRead<T> {
  /** The row without what could not be read; the row itself where all could. */
  readonly row: T;
  /** The fields that were left out. */
  readonly odd: readonly OddField[];
}

/**
 * Reads an order of the orders endpoint field by field: sound fields are kept,
 * the others are left out and reported. A status that cannot be read is null.
 * Unknown fields are kept.
 */
export function readOrderRow(row: Row): RowRead<Omit<Order, "order_id">> {
  const odd: OddField[] = [];
  const sound = soundFields(row, ORDER_SHAPES, "", odd);
  const { status: stated } = row;
  if (!stated && stated !== false) {
    odd.push({
      field: "status",
      value: stated === "" ? "empty" : stated === null ? "null" : "missing",
    });
  }
  return reported(sound.status ? sound : { ...sound, status: null }, odd);
}

/**
 * Reads a user of the users endpoint field by field, in the way of
 * {@linkcode readOrderRow}.
 */
export function readUserRow(row: Row): RowRead<Omit<User, "user_id">> {
  const odd: OddField[] = [];
  return reported(soundFields(row, USER_SHAPES, "", odd), odd);
}

/** The sound fields: what was given where all are. */
function soundFields(
  row: Row,
  shapes: Shapes,
  path: string,
  odd: OddField[],
): Row {
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(row)) {
    const value = row[name];
    const sound = path === "" && isDeeperThan(value)
      ? leaveOut(name, "too_deep", odd)
      : Object.hasOwn(shapes, name)
      ? soundPart(value, shapes[name], path + name, odd)
      : value;
    if (sound !== value) (changed ??= new Map()).set(name, sound);
  }
  if (changed === undefined) return row;
  return Object.fromEntries(
    Object.entries({ ...row, ...Object.fromEntries(changed) })
      .filter(([, value]) => value !== undefined),
  );
}

/** The sound part of a value; undefined when it has to be left out. */
function soundPart(
  value: unknown,
  shape: Shape | undefined,
  path: string,
  odd: OddField[],
): unknown {
  if (value === null || shape === undefined) return value;
  if (typeof shape === "string") {
    const wrong = shape === "boolean"
      ? typeof value !== "boolean" && kindOf(value)
      : wrongText(value, shape);
    return wrong ? leaveOut(path, wrong, odd) : value;
  }
  if ("fields" in shape) {
    return isRecord(value)
      ? soundFields(value, shape.fields, `${path}.`, odd)
      : leaveOut(path, kindOf(value), odd);
  }
  if (!Array.isArray(value)) return leaveOut(path, kindOf(value), odd);
  const items = value.map((item, at) =>
    item === null
      ? leaveOut(`${path}.${at}`, "null", odd)
      : soundPart(item, shape.each, `${path}.${at}`, odd)
  );
  return items.every((item, at) => item === value[at])
    ? value
    : items.filter((item) => item !== undefined);
}

function wrongText(value: unknown, shape: FieldShape): OddValue | false {
  if (typeof value !== "string" || value.includes("\0")) return kindOf(value);
  if (shape === "identifier") return isLongText(value) && "too_long";
  return shape === "decimal" &&
    (value.length > LONGEST_DECIMAL || !DECIMAL.test(value)) && "text";
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
function reported<T>(row: Row, odd: readonly OddField[]): RowRead<T> {
  const listed = odd.slice(0, MOST_ODD_FIELDS).map(({ field, value }) => ({
    field: field.slice(0, LONGEST_NAME).toWellFormed().replaceAll("\0", ""),
    value,
  }));
  listed.sort((a, b) => a.field < b.field ? -1 : a.field > b.field ? 1 : 0);
  return { row: row as T, odd: listed };
}
