import type { Fact, SessionFact } from "../events/fact.ts";

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
  const links = new OrderLinks();
  links.add(fact);
  return [...links.all.values()];
}

/** Links that the facts of one order bring, each once. */
export class OrderLinks {
  /** The links, by {@linkcode linkKey}. */
  readonly all: Map<string, Link> = new Map();
  readonly #last = { session: "", click: "", external: "" };

  /**
   * Takes in the links of a fact. Most facts of an order bring those of the
   * fact before, so that nothing is made of them.
   *
   * @param fact A fact of the order.
   */
  add(fact: Fact): void {
    this.#add("session", fact.sessionId);
    this.#add("click", fact.clickId);
    this.#add("external", externalId(fact));
  }

  #add(kind: Link["kind"], link: string | null | undefined): void {
    if (!link || this.#last[kind] === link) return;
    this.#last[kind] = link;
    const one = { kind, link };
    this.all.set(linkKey(one), one);
  }
}

function externalId(fact: Fact): string | null | undefined {
  switch (fact.kind) {
    case "webhook":
      return fact.body?.externalOrderId;
    case "order_snapshot":
      return fact.reading.externalOrderId;
    default:
      return null;
  }
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
