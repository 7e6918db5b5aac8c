import { describeFailReason } from "../../core/assets/fail_reason.ts";
import {
  fieldsWith,
  ORDER_FIELDS,
  type OrderFieldName,
} from "../../core/wire/order_fields.ts";
import { withDecimals } from "../wording/money.ts";
import type { LedgerTypes, OrderState } from "../../ledger/mod.ts";

/** An object with the fields of an order: its state, or its `--json`. */
type WithFields =
  & Pick<OrderState, "fees" | "smartContract">
  & LedgerTypes.OrderDetails
  & LedgerTypes.OrderFacts;

/** The value of a field of an order, as its state holds it. */
export function orderValue(
  order: WithFields,
  field: OrderFieldName,
): string | null {
  switch (field) {
    case "partnerFee":
    case "partnerFeePercent":
    case "serviceFee":
    case "serviceFeePercent":
      return order.fees[field];
    case "scInputData":
      return order.smartContract.inputData;
    default:
      return order[field];
  }
}

/** A field of an order for people. */
export interface ShownField {
  /** Name of the field. */
  readonly name: OrderFieldName;
  /** Its title. */
  readonly label: string;
  /** Whether it names something: an identifier, an address, a hash. */
  readonly isName: boolean;
  /** Its value, with its unit or meaning; null where there is none. */
  readonly text: string | null;
}

/** The fields of an order for people, in the order of the table of fields. */
export function shownFields(order: WithFields): readonly ShownField[] {
  return fieldsWith("label").map((name) => {
    const { label, shape, same } = { same: null, ...ORDER_FIELDS[name] };
    return {
      name,
      label,
      isName: shape === "identifier" || same === "address" ||
        same === "transaction",
      text: shownText(order, name),
    };
  });
}

/** One field of an order for people, with its unit or meaning. */
export function shownText(
  order: WithFields,
  field: OrderFieldName,
): string | null {
  switch (field) {
    case "currencyAmount":
      return paidText(order.currencyAmount, order.currency);
    case "cryptoAmount":
      return amountText(order.cryptoAmount, order.commodity);
    case "failReason": {
      const meaning = failMeaning(order);
      return meaning === null
        ? order.failReason
        : `${order.failReason}: ${meaning}`;
    }
    default:
      return orderValue(order, field);
  }
}

/** An amount and its unit; empty where there is none. */
export function amountText(value: string | null, unit: string | null): string {
  return value === null ? "" : [value, unit].filter(Boolean).join(" ");
}

/** An amount of money with all its decimals; empty where there is none. */
export function paidText(
  value: string | null,
  currency: string | null,
): string {
  return amountText(value && withDecimals(value, currency), currency);
}

/** What the reason of a failure means, where it is a documented code. */
export function failMeaning({ failReason }: WithFields): string | null {
  return failReason === null ? null : describeFailReason(failReason);
}
