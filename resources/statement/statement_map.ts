import { isRecord } from "../../core/guards.ts";
import { AMOUNTS } from "../../ledger/for_resources.ts";

/**
 * The file that says what the columns of a statement mean. A statement is a CSV
 * file with a heading line.
 */
export interface StatementMap {
  /** Which column holds what, by its title. */
  readonly columns: StatementColumns;
  /**
   * Which amount of an order the statement is about.
   *
   * @default {"currencyAmount"}
   */
  readonly amountOf?: AmountOf;
  /** Currency or asset of every row, where no column says it. */
  readonly currency?: string;
  /**
   * Separator of cells.
   *
   * @default {","}
   * @minLength 1
   * @maxLength 1
   */
  readonly delimiter?: string;
  /** Decimal separator. @default {"."} */
  readonly decimalMark?: "." | ",";
  /** Separator of thousands. @default {""} */
  readonly thousandsMark?: "" | "." | "," | "'" | " ";
  /**
   * How days are written: `YYYY`, `MM` and `DD` with anything between. What
   * follows is left out, unless it is a time with a zone, which is brought to the
   * time zone of the books.
   *
   * @default {"YYYY-MM-DD"}
   */
  readonly dayFormat?: string;
  /**
   * Days by which a row may differ, because a bank books later.
   *
   * @default {0}
   * @asType integer
   * @minimum 0
   * @maximum 31
   */
  readonly daysApart?: number;
}

/** An amount of an order. */
export type AmountOf =
  | "currencyAmount"
  | "cryptoAmount"
  | "partnerFeeUsd"
  | "serviceFeeUsd";

/** Columns of a statement, by title; at least one id or the amount. */
export interface StatementColumns {
  /** Order id of the service. */
  readonly orderId?: string;
  /** Your own id of the order. */
  readonly externalOrderId?: string;
  /** Hash of the transaction. */
  readonly txId?: string;
  /** The amount. */
  readonly amount?: string;
  /** Its currency or asset. */
  readonly currency?: string;
  /** The day. */
  readonly day?: string;
}

/** The mapping with what it leaves out filled in. */
export type ReadStatementMap = Required<Omit<StatementMap, "currency">> & {
  readonly currency: string | null;
};

const COLUMNS: readonly (keyof StatementColumns)[] = [
  ...["orderId", "externalOrderId", "txId"] as const,
  ...["amount", "currency", "day"] as const,
];

/** Fields that are one of some texts. */
const CHOICES = {
  amountOf: AMOUNTS,
  decimalMark: [".", ","],
  thousandsMark: ["", ".", ",", "'", " "],
} as const;

const FIELDS: readonly (keyof StatementMap)[] = [
  ...["columns", "amountOf", "currency", "delimiter"] as const,
  ...["decimalMark", "thousandsMark", "dayFormat", "daysApart"] as const,
];

/**
 * Checks a mapping.
 *
 * @param file The file's JSON value.
 * @throws {TypeError} When something in it cannot be used; it names the field.
 */
export function readStatementMap(file: unknown): ReadStatementMap {
  const map = known(file, FIELDS, "the mapping") as Partial<StatementMap>;
  const columns = known(map.columns, COLUMNS, "columns") as StatementColumns;
  for (const [name, title] of Object.entries(columns)) {
    if (typeof title !== "string" || title === "") {
      throw wrong(`columns.${name}`, title, "write the title of a column");
    }
  }
  const { orderId, externalOrderId, txId, amount } = columns;
  if ((orderId ?? externalOrderId ?? txId ?? amount) === undefined) {
    throw wrong(
      "columns",
      map.columns,
      "name at least one of orderId, externalOrderId, txId and amount",
    );
  }
  for (const [name, choices] of Object.entries<readonly string[]>(CHOICES)) {
    const value = map[name as keyof typeof CHOICES];
    if (value === undefined || choices.some((one) => one === value)) continue;
    throw wrong(name, value, `write one of ${JSON.stringify(choices)}`);
  }
  const {
    amountOf = "currencyAmount",
    currency = null,
    delimiter = ",",
    decimalMark = ".",
    thousandsMark = "",
    dayFormat = "YYYY-MM-DD",
    daysApart = 0,
  } = map;
  if (currency !== null && (typeof currency !== "string" || currency === "")) {
    throw wrong("currency", currency, "write a code such as EUR");
  }
  if (amount !== undefined && currency === null && !columns.currency) {
    throw wrong("columns", columns, "name the column currency, or a currency");
  }
  if (typeof delimiter !== "string" || !/^[^"\r\n]$/u.test(delimiter)) {
    throw wrong("delimiter", delimiter, "write one character");
  }
  if (thousandsMark === decimalMark) {
    throw wrong("thousandsMark", thousandsMark, "decimalMark is the same");
  }
  if (
    typeof dayFormat !== "string" ||
    ["YYYY", "MM", "DD"].some((part) => dayFormat.split(part).length !== 2)
  ) {
    throw wrong("dayFormat", dayFormat, "write YYYY, MM and DD once each");
  }
  if (
    typeof daysApart !== "number" || !Number.isInteger(daysApart) ||
    daysApart < 0 || daysApart > 31
  ) {
    throw wrong("daysApart", daysApart, "write a whole number from 0 to 31");
  }
  return {
    ...{ columns, amountOf, currency, delimiter, decimalMark, thousandsMark },
    ...{ dayFormat, daysApart },
  };
}

function known(
  value: unknown,
  fields: readonly string[],
  name: string,
): Record<string, unknown> {
  if (!isRecord(value)) throw wrong(name, value, "write a JSON object");
  const other = Object.keys(value).find((field) => !fields.includes(field));
  if (other === undefined) return value;
  throw wrong(
    name,
    other,
    `there is no such field; write ${fields.join(", ")}`,
  );
}

function wrong(name: string, value: unknown, what: string): TypeError {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? "not there";
  return new TypeError(`Wrong ${name}: ${shown}: ${what}`);
}
