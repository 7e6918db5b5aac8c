import * as z from "zod";
import type {
  BookBy,
  Exclusion,
  Money,
  MonthChange,
  MonthDifference,
  MonthRowKind,
  MonthSummary,
} from "../../ledger/for_resources.ts";
import type { MonthJson } from "../views/month_view.ts";
import {
  count,
  decimalOrNull,
  each,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import type { Same } from "./same.ts";

const bookBys: Readonly<Record<BookBy, true>> = {
  created: true,
  completed: true,
  confirmed: true,
};

const rowKinds: Readonly<Record<MonthRowKind, true>> = {
  order: true,
  late: true,
  reversal: true,
  restatement: true,
};

const head = {
  month: text,
  timeZone: text,
  timeZoneVersion: textOrNull,
  bookBy: oneOf(bookBys),
  asOf: z.object({ position: count, events: count }),
  foldVersion: count,
};

const closed = {
  ...head,
  closedAt: time,
  digest: text,
  position: count,
  files: z.array(z.object({ name: text, sha256: text })),
};

/** A closed month, without the text of its files. */
export const monthSchema = named(
  "Month",
  "A closed month, without the text of its files",
  z.object(closed),
);

const total = {
  currency: textOrNull,
  commodity: textOrNull,
  network: textOrNull,
  orders: z.int(),
  currencyAmount: decimalOrNull,
  currencyAmountUnknown: z.int(),
  cryptoAmount: decimalOrNull,
  cryptoAmountUnknown: z.int(),
  partnerFeeUsd: decimalOrNull,
  partnerFeeUsdUnknown: z.int(),
  serviceFeeUsd: decimalOrNull,
  serviceFeeUsdUnknown: z.int(),
};

/** The `summary.json` of a closed month. */
export const monthSummarySchema = named(
  "MonthSummary",
  "What a closed month adds up to: its summary.json",
  z.object({
    ...head,
    rows: each(rowKinds, count),
    totals: z.array(z.object(total)),
    days: z.array(z.object({ day: text, ...total })),
    anomalies: z.array(z.object({ kind: text, orderIds: z.array(text) })),
    excluded: each<Exclusion, typeof count>({
      unconfirmed: true,
      reversed: true,
      before_first_month: true,
      erased: true,
      unclear: true,
    }, count),
    unclear: z.array(text),
  }),
);

const money = {
  currency: textOrNull,
  currencyAmount: decimalOrNull,
  commodity: textOrNull,
  network: textOrNull,
  cryptoAmount: decimalOrNull,
  partnerFeeUsd: decimalOrNull,
  serviceFeeUsd: decimalOrNull,
};

const difference = z.object({
  orderId: textOrNull,
  kind: oneOf(rowKinds).nullable(),
  field: text,
  stored: textOrNull,
  computed: textOrNull,
});

const change = z.object({
  kind: oneOf(rowKinds),
  day: text,
  orderId: text,
  ofMonth: text,
  datedBy: oneOf(bookBys),
  times: each(bookBys, timeOrNull),
  knownAt: time,
  anomalies: z.array(text),
  bookedIn: textOrNull,
  ...money,
});

/** A closed month, worked out again. */
export const monthRecomputationSchema = named(
  "MonthRecomputation",
  "A closed month, what another computation says otherwise, and what became " +
    "known since",
  z.object({
    ...closed,
    differences: z.array(difference),
    erased: z.array(text),
    changes: z.array(change),
  }),
);

true satisfies Same<z.infer<typeof monthSchema>, MonthJson>;
true satisfies Same<z.infer<typeof monthSummarySchema>, MonthSummary>;
true satisfies Same<z.infer<typeof difference>, MonthDifference>;
true satisfies Same<
  z.infer<typeof change>,
  Omit<MonthChange, "money"> & Money
>;
