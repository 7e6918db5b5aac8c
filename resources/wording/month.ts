import type {
  Exclusion,
  KindTotal,
  MonthRefusal,
} from "../../ledger/for_resources.ts";

/** Why a month was not closed. */
export function describeMonthRefusal(
  month: string,
  refusal: MonthRefusal,
): string {
  switch (refusal.code) {
    case "already_closed":
      return `${month} is closed already, since ${refusal.first.closedAt} ` +
        `(position ${refusal.first.position}), and never changes`;
    case "not_next":
      return `Cannot close ${month}: months are closed in their order, and ` +
        `the next one is ${refusal.next}`;
    case "not_over":
      return `Cannot close ${month}: it is not over, today is ${refusal.today} ` +
        "in the time zone of the books";
    case "terms_missing":
      return "The first month that is closed needs a time zone, and what " +
        "decides the month of an order; later ones take those of the month " +
        "before";
  }
}

/** What to do about it; empty where nothing helps. */
export function monthRefusalAdvice(
  month: string,
  { code }: MonthRefusal,
  named: (param: string) => string,
): string {
  switch (code) {
    case "already_closed":
      return `; see it with: rampkit month show ${month}`;
    case "not_next":
      return "";
    case "not_over":
      return `; ${named("beforeEnd")} closes the present month all the same, ` +
        "and books what comes later as late in the next one";
    case "terms_missing":
      return `: rampkit month close ${month} --tz ZONE --book-by TIME`;
  }
}

/** Why orders of a month are not booked. */
export const EXCLUSIONS: Readonly<Record<Exclusion, string>> = {
  unconfirmed: "only webhooks say that they succeeded",
  reversed: "the service took their success back before the closing",
  before_first_month:
    "of a month before the first that was closed, known since this month",
  erased: "their readings were erased",
  unclear:
    "the service does not show them any more, or with a status that is not known",
};

/** What the rows of a kind are, as the heading of their sums. */
export const ROW_KIND_WORDS: Readonly<Record<KindTotal["kind"], string>> = {
  order: "Sales",
  late: "Late sales of closed months",
  reversal: "Reversals",
  restatement: "Restatements",
  all: "In all",
};
