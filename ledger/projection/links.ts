import type { Fact, SessionFact } from "../fold/fact.ts";

/** What leads to an order: a widget session, a click id, or an external id. */
export interface Link {
  /** What kind of id it is. */
  readonly kind: "session" | "click" | "external";
  /** The id. */
  readonly link: string;
}

/** A link as one text, to look it up by. */
export function linkKey({ kind, link }: Link): string {
  return `${kind}:${link}`;
}

/**
 * Links that a fact of an order brings.
 *
 * @param fact Any fact.
 * @returns None unless the fact concerns an order.
 */
export function orderLinks(fact: Fact): Link[] {
  if (fact.orderId === null) return [];
  const links: Link[] = [];
  if (fact.sessionId !== null) {
    links.push({ kind: "session", link: fact.sessionId });
  }
  if (fact.clickId !== null) links.push({ kind: "click", link: fact.clickId });
  const external = fact.kind === "webhook"
    ? fact.body?.externalOrderId
    : fact.kind === "order_snapshot"
    ? fact.reading.externalOrderId
    : null;
  if (external) links.push({ kind: "external", link: external });
  return links;
}

/**
 * Links by which orders find a session of the partner.
 *
 * @param fact The session.
 */
export function sessionLinks(fact: SessionFact): Link[] {
  const links: Link[] = [{ kind: "session", link: fact.asked.sessionId }];
  if (fact.clickId !== null) links.push({ kind: "click", link: fact.clickId });
  return links;
}
