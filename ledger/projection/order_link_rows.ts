import type { FactLink, OrderLinks } from "../events/links.ts";
import { beganBy } from "../orders/expectations.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { OrderLink } from "./batch.ts";

/**
 * What leads to an order: the links of its facts, and what a later expectation
 * finds it by, which says when the order was there at the latest.
 *
 * @param order Folded facts of the order.
 * @param links Links of its facts.
 * @param isMoved Whether an expectation has to find it by what it shows now.
 */
export function orderLinkRows(
  order: OrderFold,
  links: OrderLinks | undefined,
  isMoved: boolean,
): OrderLink[] {
  const { orderId } = order;
  const began = beganBy(order) ?? "";
  const row = (link: FactLink): OrderLink => ({
    ...link,
    orderId,
    beganBy: link.kind === "click" || link.kind === "reference" ? began : "",
  });
  const all = [...links?.all.values() ?? []];
  if (isMoved) all.push(...linksOfExpectations(order));
  return all.map(row);
}

function linksOfExpectations({ latest, expectations }: OrderFold): FactLink[] {
  const references = new Set(expectations.map(({ reference }) => reference));
  const links = [...references].flatMap((link) =>
    link === null ? [] : { kind: "reference" as const, link, confirmed: true }
  );
  return latest?.clickId
    ? [...links, { kind: "click", link: latest.clickId, confirmed: true }]
    : links;
}
